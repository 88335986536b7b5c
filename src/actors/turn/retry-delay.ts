/**
 * Fills the slot `pause`: waits before the next attempt, as long as the server asks or with
 * exponential back-off.
 */
import type { EventObject } from 'xstate';
import type { SlotWork } from '../../machines/slot.js';
import type { RetryDelayInput } from '../../protocol/agent/agent-state.js';
import type { Clock, Random } from '../../protocol/clock.js';
import type { Feed } from '../../protocol/session/feed.js';
import { StorageError } from '../../protocol/skein-error.js';
import type { JournaledState } from '../agent/journaled-state.js';

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 32_000;
/** Maximum delay that is accepted from a server. */
const MAX_SERVER_DELAY_MS = 3_600_000;

/**
 * Returns the delay before the next attempt: doubled each time, minus up to a quarter at random, so
 * that agents do not retry in step.
 */
export const backoffMs = (
  { retries, retryAfterMs }: Pick<RetryDelayInput, 'retries' | 'retryAfterMs'>,
  random: Random,
): number => {
  if (retryAfterMs !== null) return Math.min(retryAfterMs, MAX_SERVER_DELAY_MS);
  const doubled = FIRST_DELAY_MS * 2 ** Math.max(0, Math.min(retries, 20) - 1);
  return Math.round(Math.min(doubled, MAX_DELAY_MS) * (1 - random() / 4));
};

/** Minimum delay that people are notified about. */
const MIN_NOTICE_MS = 300;

interface RetryDelayDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly feed: Feed;
  readonly journal: Pick<JournaledState, 'record' | 'fail'>;
}

export const retryDelay =
  ({ clock, random, feed, journal }: RetryDelayDeps): SlotWork<EventObject, RetryDelayInput> =>
  ({ input, sendBack }) => {
    const ms = backoffMs(input, random);
    if (ms >= MIN_NOTICE_MS) {
      const { retries, maxRetries, reason } = input;
      const retry = { attempt: retries + 1, attempts: maxRetries + 1, durationMs: ms };
      try {
        journal.record({ type: 'retry.scheduled', ...retry });
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        journal.fail(error);
      }
      const start = `Attempt ${retry.attempt} of ${retry.attempts} starts in ${Math.ceil(ms / 1000)} s.`;
      feed.emit({ type: 'notice', text: `${start} ${reason}`, retry });
    }
    return clock.wakeAt(clock.now() + ms, () => sendBack({ type: 'pause.over' }));
  };
