/** Doctor checks: their type, and a runner that limits the time of each check. */
import { execFile } from 'node:child_process';
import type { TerminalHost } from '../../../terminal/terminal-host.js';

/** Only `fail` prevents Skein from working. A `note` needs no action. */
export type Health = 'ok' | 'note' | 'warn' | 'fail';

export interface Finding {
  readonly status: Health;
  readonly found: string;
  /** Sentence that says what to do. */
  readonly fix?: string;
  /** Details: a line for people, and an object for `--json`. */
  readonly items?: readonly { readonly line: string; readonly value: object }[];
}

export interface DoctorCheck {
  readonly name: string;
  run(host: TerminalHost, signal: AbortSignal): Finding | Promise<Finding>;
}

export type CheckResult = Finding & { readonly name: string };

const CHECK_LIMIT_MS = 10_000;

/** Runs all checks concurrently. Resolves with results in the order of the checks. Never rejects. */
export const runChecks = (
  checks: readonly DoctorCheck[],
  host: TerminalHost,
  limitMs = CHECK_LIMIT_MS,
): Promise<readonly CheckResult[]> =>
  Promise.all(
    checks.map(async (check) => ({
      name: check.name,
      ...(await bounded(check, host, limitMs)),
    })),
  );

const bounded = async (
  check: DoctorCheck,
  host: TerminalHost,
  limitMs: number,
): Promise<Finding> => {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => {
      resolve({
        status: 'fail',
        found: `no answer within ${limitMs / 1000} seconds`,
        fix: 'Try again; if this repeats, find out what blocks it.',
      });
      limit.abort();
    }, limitMs);
  });
  try {
    return await Promise.race([check.run(host, limit.signal), late]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { status: 'fail', found: `the check failed: ${reason}` };
  } finally {
    clearTimeout(timer);
  }
};

export type ProbeResult =
  | { readonly kind: 'ran'; readonly output: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Runs a program of the PATH to its end, with limits on time and output. Never rejects. */
export const probe = (
  [program = '', ...args]: readonly string[],
  { env }: Pick<TerminalHost, 'env'>,
  signal: AbortSignal,
): Promise<ProbeResult> =>
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
