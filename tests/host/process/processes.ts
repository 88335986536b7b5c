/** Helpers for tests of real processes. They ask the system and use no code of Skein. */
import { execFileSync } from 'node:child_process';

/** True if the process runs. False for zombies. */
export const isAlive = (pid: number): boolean =>
  /^[^ZX]/.test(ps('-o', 'state=', '-p', String(pid)));

export const childrenOf = (parent: number): readonly number[] =>
  ps('-o', 'pid=', '--ppid', String(parent)).split(/\s+/).filter(Boolean).map(Number);

export const allDead = (pids: readonly number[]) => pids.every((pid) => !isAlive(pid));

const ps = (...args: readonly string[]): string => {
  try {
    return execFileSync('ps', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
};

export const WATCHDOG = [
  process.execPath,
  '--import',
  'tsx',
  'src/host/process/ownership/watchdog.ts',
] as const;
