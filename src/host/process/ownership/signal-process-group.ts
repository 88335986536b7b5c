/** Signals a process group: a shell and all processes that it started. */
import { setTimeout as after } from 'node:timers/promises';
import { processTable } from './process-table.js';

/** Returns false if the group has no process. Throws RangeError for groups below 2, which would signal all processes. */
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

/** Sends SIGTERM, then SIGKILL after `graceMs`. Resolves at once if the group has no process. */
export const endProcessGroup = async (group: number, graceMs: number): Promise<void> => {
  if (!signalProcessGroup(group, 'SIGTERM')) return;
  // A stopped process handles SIGTERM only after SIGCONT.
  signalProcessGroup(group, 'SIGCONT');
  for (let waited = 0; waited < graceMs; waited += POLL_MS) {
    await after(POLL_MS);
    // Zombies accept signals too, so check the process states as well.
    if (!signalProcessGroup(group, 0) || !(await processTable.hasLivingMember(group))) return;
  }
  signalProcessGroup(group, 'SIGKILL');
};
