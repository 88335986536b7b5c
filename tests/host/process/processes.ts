/** What the tests of real processes look at. It reads the system itself, not through our code. */
import { execFileSync } from 'node:child_process';

/** Whether the process runs; the dead that nobody has buried do not. */
export const isAlive = (pid: number): boolean =>
  /^[^ZX]/.test(ps('-o', 'state=', '-p', String(pid)));

export const childrenOf = (parent: number): readonly number[] =>
  ps('-o', 'pid=', '--ppid', String(parent)).split(/\s+/).filter(Boolean).map(Number);

/** Asks again and again until it is so. The deadline is there to give up, not to measure. */
export const eventually = async <Result>(
  what: string,
  ask: () => Result | false | undefined,
): Promise<Result> => {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const answer = ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`It never came true that ${what}.`);
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
