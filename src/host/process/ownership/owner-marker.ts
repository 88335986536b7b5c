/**
 * Owner marker in the environment of every child: `<owner>.<pid>.<start>.<namespace>`. Identifies
 * the owner process even after its pid is reused.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

export const ownerMarker = (ownerId: string): string =>
  [ownerId, process.pid, processStart(process.pid) ?? '0', processNamespace()].join('.');

/** True if the owner process runs. Also true if unknown, because only a certain orphan may be killed. */
export const ownerLives = (marker: string): boolean => {
  const [namespace, start, pid] = marker.split('.').reverse();
  if (namespace === undefined || start === undefined || !/^\d+$/.test(pid ?? '')) return true;
  if (namespace !== processNamespace()) return true;
  return processStart(Number(pid)) === start;
};

/** Returns the start time of a process, to detect a reused pid. Returns undefined if there is no such process. */
const processStart = (pid: number): string | undefined => {
  try {
    return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
};

/** Returns clock ticks since boot. Parses after the last bracket, because the program name may contain brackets. */
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

/** Returns the pid namespace, because containers reuse the same pids. */
const processNamespace = (): string => {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '0';
  }
};
