/** What agents do that other processes work on, as the index of the swarm tells it: once a while, not at once. */
import type { Clock } from '../protocol/clock.js';
import { SkeinError } from '../protocol/errors.js';
import type { EventWatch } from '../protocol/store.js';
import type { Roster } from './roster.js';

const LOOK_EVERY_MS = 500;

/** Looks until what it returns is called. */
export const watchRemotes = (watch: EventWatch, roster: Roster, clock: Clock): (() => void) => {
  let isOver = false;
  let forget = () => {};
  const look = async (): Promise<void> => {
    try {
      for (;;) {
        const events = await watch.next();
        if (isOver || events.length === 0) break;
        for (const event of events) roster.observe(event);
      }
    } catch (error) {
      // Who cannot be seen now is seen later.
      if (!(error instanceof SkeinError)) throw error;
    }
    if (!isOver) forget = clock.wakeAt(clock.now() + LOOK_EVERY_MS, () => void look(), false);
  };
  void look();
  return () => {
    isOver = true;
    forget();
  };
};
