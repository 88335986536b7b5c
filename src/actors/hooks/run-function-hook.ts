/**
 * Runs a hook that is a function of the embedding program. A function that never settles is
 * abandoned after its time-out.
 */
import type { Clock } from '../../protocol/clock.js';
import type { HookEnd, HookFunction } from '../../protocol/permission/hook-setup.js';

interface FunctionHookOptions {
  /** Input as JSON. Each function gets its own copy, so it cannot change the state of an agent. */
  readonly input: string;
  readonly call: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Runs the function. Never rejects. */
export const runFunctionHook = (
  run: HookFunction,
  { input, call, timeoutMs, signal, clock }: FunctionHookOptions,
): Promise<HookEnd> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve({ kind: 'aborted' });
      return;
    }
    const settled = new AbortController();
    const settle = (end: HookEnd) => {
      cancelTimer();
      signal.removeEventListener('abort', abort);
      resolve(end);
      settled.abort();
    };
    const abort = () => settle({ kind: 'aborted' });
    const onTimeout = () => settle({ kind: 'timeout', timeoutMs });
    const cancelTimer = clock.wakeAt(clock.now() + timeoutMs, onTimeout);
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve()
      .then(() => run(JSON.parse(input), call, { signal: settled.signal }))
      .then(
        (value) => settle(toPlainResult(value)),
        (error: unknown) => settle({ kind: 'failed', why: messageOf(error) }),
      );
  });

const MAX_OUTPUT_LENGTH = 1024 * 1024;

/** Converts the result to plain JSON data, so that no getter can fail or change later. */
const toPlainResult = (value: unknown): HookEnd => {
  if (value === undefined) return { kind: 'returned', value: undefined };
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return { kind: 'failed', why: 'its result is not JSON' };
    if (text.length > MAX_OUTPUT_LENGTH) return { kind: 'failed', why: 'its output is too long' };
    return { kind: 'returned', value: JSON.parse(text) };
  } catch (error) {
    return { kind: 'failed', why: `its result is not JSON: ${messageOf(error)}` };
  }
};

const messageOf = (error: unknown): string => {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'it threw a value without a message';
  }
};
