/** What the board of calls has to be like, in the plainest words: pure functions over a list. */
import type { Call, CallStatus } from '../../src/protocol/agent/agent-state.js';

const MOST_AT_ONCE = 32;

/**
 * The calls that may start now, in order. A safe call runs beside safe ones, an unsafe call alone,
 * and none overtakes an earlier call that it could disturb or that could disturb it. While the
 * stream is open only read-only calls start, so that a stream that is cut never had an effect. No
 * more than 32 run side by side, not counting those that only wait.
 */
export const startableCalls = (calls: readonly Call[], streamOpen: boolean): readonly Call[] => {
  const startable: Call[] = [];
  // A later call may run already: one that was safe when it was asked about need not be any more.
  const executing = calls.filter(({ status }) => status === 'executing');
  let alone = executing.length === 0;
  let places = executing.filter(({ onlyWaits }) => !onlyWaits).length;
  for (const call of calls) {
    if (isDone(call)) continue;
    const hasPlace = call.onlyWaits || places < MOST_AT_ONCE;
    const isNext = call.status === 'queued' && (call.safe || alone);
    if (isNext && hasPlace && (call.readOnly || !streamOpen)) {
      startable.push(call);
      if (!call.onlyWaits) places += 1;
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

/** The one call that has no result yet. Of two with one id, only the first is ever told of. */
export const lastCall = (calls: readonly Call[]): readonly string[] => {
  const left = calls.filter(({ status }) => status !== 'completed');
  const [last] = left;
  if (left.length !== 1 || last === undefined) return [];
  const named = calls.filter(({ id }) => id === last.id);
  return named[0] === last ? named.map(({ id }) => id) : [];
};

/** Something is happening, or can happen, without anybody's answer. */
export const isBusy = (calls: readonly Call[], windingDown: boolean): boolean =>
  isAtWork(calls) || (windingDown ? calls.some(isOpen) : startableCalls(calls, false).length > 0);

export const isAsking = (calls: readonly Call[]): boolean =>
  calls.some(({ status }) => status === 'asking');

/** Every call has its result, and nobody has seen them yet. */
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
  failed: false,
});
