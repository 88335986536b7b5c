/** Which calls may start, and what the crew is busy with: pure functions over the list of calls. */
import type { Call, CallStatus } from '../protocol/agent.js';

/** Calls that run side by side; the rest of a wide turn waits for a place. */
export const MOST_AT_ONCE = 32;

/**
 * The calls that may start now, in order. A safe call runs beside safe ones, an unsafe call alone,
 * and none overtakes an earlier call that it could disturb or that could disturb it. While the
 * stream is open only read-only calls start, so that a stream that is cut never had an effect.
 */
export const startableCalls = (calls: readonly Call[], streamOpen: boolean): readonly Call[] => {
  const startable: Call[] = [];
  // A later call may run already: one that was safe when it was asked about need not be any more.
  const executing = calls.filter(({ status }) => status === 'executing').length;
  let alone = executing === 0;
  for (const call of calls) {
    if (isDone(call)) continue;
    if (executing + startable.length >= MOST_AT_ONCE) break;
    if (call.status === 'queued' && (call.safe || alone)) {
      if (call.readOnly || !streamOpen) startable.push(call);
    }
    alone = false;
    if (!call.safe || call.status === 'judging') break;
  }
  return startable;
};

export const isDone = (call: Call): boolean =>
  call.status === 'completed' || call.status === 'yielded';

export const isOpen = (call: Call): boolean => !isDone(call);

/** Something is happening, or can happen, without anybody's answer. */
export const isBusy = (calls: readonly Call[], windingDown: boolean): boolean =>
  calls.some(({ status }) => status === 'executing' || status === 'judging') ||
  (windingDown ? calls.some(isOpen) : startableCalls(calls, false).length > 0);

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
  failed: false,
});
