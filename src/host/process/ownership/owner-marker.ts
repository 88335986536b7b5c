/**
 * The mark that every child carries in its environment: `<owner>.<pid>.<start>.<namespace>`. It
 * outlives its owner, and still tells whether that very process runs.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

export const ownerMarker = (ownerId: string): string =>
  [ownerId, process.pid, processStart(process.pid) ?? '0', processNamespace()].join('.');

/** True also when it cannot be told: what may belong to somebody is not an orphan. */
export const ownerLives = (marker: string): boolean => {
  const [namespace, start, pid] = marker.split('.').reverse();
  if (namespace === undefined || start === undefined || !/^\d+$/.test(pid ?? '')) return true;
  if (namespace !== processNamespace()) return true;
  return processStart(Number(pid)) === start;
};

/** Digits that identify the start of the process; undefined when there is no such process. */
const processStart = (pid: number): string | undefined => {
  try {
    return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
};

/** Clock ticks since boot. The program's name stands in brackets and may itself contain brackets. */
const fromProc = (pid: number) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[19];
};

const fromPs = (pid: number) => {
  const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const time = Date.parse(started.trim());
  return Number.isNaN(time) ? undefined : String(time);
};

/** Process numbers mean something only inside their namespace: containers count from 1 again. */
const processNamespace = (): string => {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '0';
  }
};
