/** What a check of `skein doctor` is: independent of the others, bounded in time, and never silent. */
import { execFile } from 'node:child_process';
import type { TerminalHost } from '../../../terminal/terminal-host.js';

/** A `note` is worth knowing and needs nothing; only a `fail` keeps Skein from working. */
export type Health = 'ok' | 'note' | 'warn' | 'fail';

export interface Finding {
  readonly status: Health;
  readonly found: string;
  /** What to do, in one sentence. */
  readonly fix?: string;
  /** One by one: a line for people, all of it for programs. */
  readonly items?: readonly { readonly line: string; readonly value: object }[];
}

export interface Check {
  readonly name: string;
  run(machine: TerminalHost, signal: AbortSignal): Finding | Promise<Finding>;
}

export type Checked = Finding & { readonly name: string };

const LIMIT_MS = 10_000;

/** All at once; the answers come in the order of the checks. */
export const runChecks = (
  checks: readonly Check[],
  machine: TerminalHost,
  limitMs = LIMIT_MS,
): Promise<readonly Checked[]> =>
  Promise.all(
    checks.map(async (check) => ({
      name: check.name,
      ...(await bounded(check, machine, limitMs)),
    })),
  );

const bounded = async (check: Check, machine: TerminalHost, limitMs: number): Promise<Finding> => {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => {
      resolve({
        status: 'fail',
        found: `no answer within ${limitMs / 1000} seconds`,
        fix: 'Try again; if it stays so, look at what holds it up.',
      });
      limit.abort();
    }, limitMs);
  });
  try {
    return await Promise.race([check.run(machine, limit.signal), late]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { status: 'fail', found: `the check failed: ${reason}` };
  } finally {
    clearTimeout(timer);
  }
};

export type Probe =
  | { readonly kind: 'ran'; readonly output: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Runs a program of the PATH to its end, and keeps a little of what it says. */
export const probe = (
  [program = '', ...args]: readonly string[],
  { env }: Pick<TerminalHost, 'env'>,
  signal: AbortSignal,
): Promise<Probe> =>
  new Promise((resolve) => {
    const options = {
      env,
      signal,
      timeout: 5_000,
      maxBuffer: 64 * 1024,
      killSignal: 'SIGKILL',
    } as const;
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const { code } = (error ?? {}) as NodeJS.ErrnoException;
      if (error === null) resolve({ kind: 'ran', output: stdout.trim() });
      else if (code === 'ENOENT') resolve({ kind: 'missing' });
      else resolve({ kind: 'failed', reason: stderr.trim().split('\n')[0] || error.message });
    });
    child.stdin?.end();
  });
