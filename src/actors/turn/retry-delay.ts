/** Fills the slot `pause`: waits before another attempt, as long as the server asks or longer each time. */
import type { EventObject } from 'xstate';
import type { Work } from '../../machines/slot.js';
import type { PauseInput } from '../../protocol/agent/agent.js';
import type { Chance, Clock } from '../../protocol/clock.js';
import type { Feed } from '../../protocol/session/feed.js';

const FIRST_MS = 500;
const LONGEST_MS = 32_000;
/** A server that asks for more is answered with this. */
const LONGEST_ASKED_MS = 3_600_000;

/** Doubles each time, with up to a quarter taken off by chance, so that agents do not march in step. */
export const backoffMs = (
  { retries, retryAfterMs }: Omit<PauseInput, 'reason'>,
  chance: Chance,
): number => {
  if (retryAfterMs !== null) return Math.min(retryAfterMs, LONGEST_ASKED_MS);
  const doubled = FIRST_MS * 2 ** Math.max(0, Math.min(retries, 20) - 1);
  return Math.round(Math.min(doubled, LONGEST_MS) * (1 - chance() / 4));
};

/** Below this nobody wonders what is going on. */
const WORTH_SAYING_MS = 1_000;

export const retryDelay =
  (clock: Clock, chance: Chance, feed: Feed): Work<EventObject, PauseInput> =>
  ({ input, sendBack }) => {
    const ms = backoffMs(input, chance);
    if (ms >= WORTH_SAYING_MS) {
      const text = `Trying again in ${Math.ceil(ms / 1000)} s. ${input.reason}`;
      feed.emit({ type: 'notice', text });
    }
    return clock.wakeAt(clock.now() + ms, () => sendBack({ type: 'pause.over' }));
  };
