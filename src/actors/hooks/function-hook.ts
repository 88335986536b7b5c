/** Runs one hook that is a function of the embedding program. One that never settles is left behind. */
import type { Clock } from '../../protocol/clock.js';
import type { HookEnd, HookFunction } from '../../protocol/permission/hook-setup.js';

export interface FunctionTerms {
  /** The input as JSON: each function has its own, and none can change what an agent knows. */
  readonly input: string;
  readonly call: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Never rejects. */
export const runHookFunction = (
  run: HookFunction,
  { input, call, timeoutMs, signal, clock }: FunctionTerms,
): Promise<HookEnd> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve({ kind: 'aborted' });
      return;
    }
    const over = new AbortController();
    const settle = (end: HookEnd) => {
      forget();
      signal.removeEventListener('abort', abort);
      resolve(end);
      over.abort();
    };
    const abort = () => settle({ kind: 'aborted' });
    const late = () => settle({ kind: 'timeout', timeoutMs });
    const forget = clock.wakeAt(clock.now() + timeoutMs, late);
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve()
      .then(() => run(JSON.parse(input), call, { signal: over.signal }))
      .then(
        (value) => settle(plain(value)),
        (error: unknown) => settle({ kind: 'failed', why: messageOf(error) }),
      );
  });

const MOST_CHARACTERS = 1024 * 1024;

/** As it would have been printed: nothing that it holds can change or fail later. */
const plain = (value: unknown): HookEnd => {
  if (value === undefined) return { kind: 'returned', value: undefined };
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return { kind: 'failed', why: 'it gave something that is no JSON' };
    if (text.length > MOST_CHARACTERS) return { kind: 'failed', why: 'its output is too long' };
    return { kind: 'returned', value: JSON.parse(text) };
  } catch (error) {
    return { kind: 'failed', why: `it gave something that is no JSON: ${messageOf(error)}` };
  }
};

const messageOf = (error: unknown): string => {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'it threw something without words';
  }
};
