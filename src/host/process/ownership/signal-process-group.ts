/** Signals for a whole process group: a shell and what it started. */
import { setTimeout as after } from 'node:timers/promises';
import { processTable } from './process-table.js';

/** Returns false when nobody is left. Group numbers below 2 would mean "everybody": a defect. */
export const signalProcessGroup = (group: number, signal: NodeJS.Signals | 0): boolean => {
  if (!Number.isInteger(group) || group < 2) throw new RangeError(`No process group: ${group}`);
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    return false;
  }
};

const POLL_MS = 20;

/** Asks the group to end, and makes it after `graceMs`. Returns at once when nobody is there. */
export const endProcessGroup = async (group: number, graceMs: number): Promise<void> => {
  if (!signalProcessGroup(group, 'SIGTERM')) return;
  // A stopped process hears the request only once it is woken.
  signalProcessGroup(group, 'SIGCONT');
  for (let waited = 0; waited < graceMs; waited += POLL_MS) {
    await after(POLL_MS);
    // The dead whom nobody has buried still take signals, so the second look is a closer one.
    if (!signalProcessGroup(group, 0) || !(await processTable.hasLivingMember(group))) return;
  }
  signalProcessGroup(group, 'SIGKILL');
};
