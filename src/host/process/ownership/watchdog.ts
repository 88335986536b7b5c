/**
 * Watchdog program: kills the process groups of its owner when the owner ends.
 *
 * The owner writes lines to stdin: `=marker` once, `+group` and `-group` as children start and end.
 * A closed stdin means that the owner is gone. The watchdog shares no other resource with the
 * owner.
 */
import { createInterface } from 'node:readline';
import { OWNER_VARIABLE } from './child-environment.js';
import { signalProcessGroup } from './signal-process-group.js';
import { killMarkedProcesses } from './sweep-orphans.js';

for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM', 'SIGQUIT'] as const) {
  process.on(signal, () => undefined);
}
process.chdir('/');

const groups = new Set<number>();
let marker: string | undefined;

const applyLine = (line: string) => {
  const value = line.slice(1);
  const group = Number(value);
  if (line.startsWith('=')) marker = value;
  else if (!Number.isInteger(group) || group < 2) return;
  else if (line.startsWith('+')) groups.add(group);
  else groups.delete(group);
};

const killGroups = () => {
  for (const group of groups) signalProcessGroup(group, 'SIGKILL');
};

/** Kills all processes of the owner and ends the watchdog. */
const end = async (): Promise<void> => {
  killGroups();
  if (marker !== undefined) await killMarkedProcesses(OWNER_VARIABLE, (value) => value === marker);
  killGroups();
  process.exit(0);
};

const lines = createInterface({ input: process.stdin });
lines.on('line', applyLine);
lines.once('close', () => void end());
process.stdin.on('error', () => lines.close());
process.stdout.on('error', () => undefined);
process.stdout.write('ready\n');
