/** Reads figures of a running process and its children from Linux. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the CPU of the current threads, in ms. */
export const cpuOf = (pid: number): number => {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e6;
};

/** Returns the resident memory of the process and its descendants, in MB. */
export const memoryOf = (pid: number): number => {
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  const started = children.filter((child) => child !== '').map((child) => memoryOf(Number(child)));
  return started.reduce((sum, value) => sum + value, Number(kilobytes) / 1024);
};
