/** System reminders: text of Skein inside a conversation. */
import { hash } from 'node:crypto';
import type { Reminder } from '../../protocol/model/context-provider.js';
import { withoutBoundary } from '../boundary.js';

/** Wraps a text of Skein in the tags of a system reminder. */
export const systemReminder = (text: string): string =>
  `<system-reminder>\n${withoutBoundary(text)}\n</system-reminder>`;

/** Returns the reminder with its text wrapped. */
export const wrapReminder = ({ text, ...rest }: Reminder): Reminder => ({
  ...rest,
  text: systemReminder(text),
});

/** Returns the digest that stands for a long text in the journal. */
export const factDigest = (text: string): string => hash('sha256', text).slice(0, 16);
