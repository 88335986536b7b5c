/** Reference model of `CallBoard`: pure functions over a list of calls. */
import type { Call, CallStatus } from '../../src/protocol/agent/agent-state.js';

const MAX_RUNNING_CALLS = 32;

/**
 * Returns the calls that may start now, in order. Safe calls run together, an unsafe call runs alone,
 * and a call never starts before an earlier unsafe call. While the stream is open only read-only calls
 * start, so that a stream that is cut has no effects. At most 32 calls run at once, not counting calls
 * that only wait.
 */
export const startableCalls = (calls: readonly Call[], streamOpen: boolean): readonly Call[] => {
  const startable: Call[] = [];
  // A later call may already run, because the answer to a question can make a safe call unsafe.
  const executing = calls.filter(({ status }) => status === 'executing');
  let alone = executing.length === 0;
  let slots = executing.filter(({ onlyWaits }) => !onlyWaits).length;
  for (const call of calls) {
    if (isDone(call)) continue;
    const hasSlot = call.onlyWaits || slots < MAX_RUNNING_CALLS;
    const isNext = call.status === 'queued' && (call.safe || alone);
    if (isNext && hasSlot && (call.readOnly || !streamOpen)) {
      startable.push(call);
      if (!call.onlyWaits) slots += 1;
    }
    alone = false;
    if (!call.safe || call.status === 'judging') break;
  }
  return startable;
};

export const isDone = (call: Call): boolean =>
  call.status === 'completed' || call.status === 'yielded';

export const isOpen = (call: Call): boolean => !isDone(call);

export const isAtWork = (calls: readonly Call[]): boolean =>
  calls.some(({ status }) => status === 'executing' || status === 'judging');

/** Id of the only call without a result. Of two calls with the same id only the first is updated. */
export const lastCall = (calls: readonly Call[]): readonly string[] => {
  const left = calls.filter(({ status }) => status !== 'completed');
  const [last] = left;
  if (left.length !== 1 || last === undefined) return [];
  const named = calls.filter(({ id }) => id === last.id);
  return named[0] === last ? named.map(({ id }) => id) : [];
};

/** True if a call runs or can start without an answer of a person. */
export const isBusy = (calls: readonly Call[], windingDown: boolean): boolean =>
  isAtWork(calls) || (windingDown ? calls.some(isOpen) : startableCalls(calls, false).length > 0);

export const isAsking = (calls: readonly Call[]): boolean =>
  calls.some(({ status }) => status === 'asking');

/** True if all calls have results that are not yet yielded. */
export const hasResults = (calls: readonly Call[]): boolean =>
  calls.length > 0 && calls.every(({ status }) => status === 'completed');

export const updateCall = (
  calls: readonly Call[],
  id: string,
  change: Partial<Omit<Call, 'id'>>,
): readonly Call[] => {
  const index = calls.findIndex((call) => call.id === id);
  const call = calls[index];
  return call === undefined ? calls : calls.with(index, { ...call, ...change });
};

export const startCalls = (calls: readonly Call[], starting: readonly Call[]): readonly Call[] => {
  const started = new Set(starting);
  return calls.map((call) => (started.has(call) ? { ...call, status: 'executing' } : call));
};

export const yieldCalls = (calls: readonly Call[]): readonly Call[] =>
  calls.map((call) => ({ ...call, status: 'yielded' }));

export const newCall = (id: string, status: CallStatus = 'judging'): Call => ({
  id,
  status,
  readOnly: false,
  safe: false,
  onlyWaits: false,
  refused: false,
});
