/** Helpers for tests of real processes. They ask the system and use no code of Skein. */
import { execFileSync } from 'node:child_process';

/** True if the process runs. False for zombies. */
export const isAlive = (pid: number): boolean =>
  /^[^ZX]/.test(ps('-o', 'state=', '-p', String(pid)));

export const childrenOf = (parent: number): readonly number[] =>
  ps('-o', 'pid=', '--ppid', String(parent)).split(/\s+/).filter(Boolean).map(Number);

/** Polls until `ask` returns a result. Throws after 30 s. */
export const eventually = async <Result>(
  what: string,
  ask: () => Result | false | undefined,
): Promise<Result> => {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const answer = ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`Never true: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

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
