/**
 * Notifies the listeners of a session about store outages, and ends the session if another process
 * takes it over.
 */
import { stops } from '../../machines/stops.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import type { SessionStore } from '../../protocol/session/session-store.js';

export interface StoreOutages {
  onLost(act: (stop: Stop) => void): void;
  end(): void;
}

export const watchStoreOutages = (
  store: Pick<SessionStore, 'outages'>,
  { lost }: Pick<OwnedSession, 'lost'>,
  feed: Feed,
): StoreOutages => {
  const forget = onOutageChange(store, (text) => feed.emit({ type: 'notice', text }));
  let onAbort = () => {};
  return {
    onLost(act) {
      onAbort = () => {
        act(stops.storageFailed((lost.reason as Error).message));
      };
      if (lost.aborted) onAbort();
      else lost.addEventListener('abort', onAbort, { once: true });
    },
    end() {
      forget();
      lost.removeEventListener('abort', onAbort);
    },
  };
};

/**
 * Calls `notify` when the store becomes unreachable or reachable again. Returns a function that
 * stops this.
 */
export const onOutageChange = (
  { outages }: Pick<SessionStore, 'outages'>,
  notify: (sentence: string) => void,
): (() => void) => outages?.listen((outage) => notify(outageText(outage))) ?? (() => {});

/** Returns the notice about an outage; `outage` is undefined when the outage is over. */
export const outageText = (outage: string | undefined): string =>
  outage === undefined ? 'Redis is back: all agents continue.' : `${outage}: all agents wait.`;
