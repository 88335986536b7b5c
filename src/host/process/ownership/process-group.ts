/** Signals for a whole process group: a shell and what it started. */
import { setTimeout as after } from 'node:timers/promises';
import { hasLivingMember } from './process-table.js';

/** Returns false when nobody is left. Group numbers below 2 would mean "everybody": a defect. */
export const signalGroup = (group: number, signal: NodeJS.Signals | 0): boolean => {
  if (!Number.isInteger(group) || group < 2) throw new RangeError(`No process group: ${group}`);
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    return false;
  }
};

const LOOK_EVERY_MS = 20;

/** Asks the group to end, and makes it after `graceMs`. Returns at once when nobody is there. */
export const endGroup = async (group: number, graceMs: number): Promise<void> => {
  if (!signalGroup(group, 'SIGTERM')) return;
  // A stopped process hears the request only once it is woken.
  signalGroup(group, 'SIGCONT');
  for (let waited = 0; waited < graceMs; waited += LOOK_EVERY_MS) {
    await after(LOOK_EVERY_MS);
    // The dead whom nobody has buried still take signals, so the second look is a closer one.
    if (!signalGroup(group, 0) || !(await hasLivingMember(group))) return;
  }
  signalGroup(group, 'SIGKILL');
};
