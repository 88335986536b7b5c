/** Notice for an agent whose journal was damaged. */
import { systemReminder } from './system-reminder.js';

export const damagedJournalNotice = systemReminder(
  'A file of this session was damaged, and part of this conversation was lost. Calls that you no longer see may have run and had their effects. Check the current state before you change anything, and do not repeat work that is already done.',
);
