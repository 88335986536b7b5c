/** A session tells its listeners when its store is out of reach, and ends when another process has taken it over. */
import * as stops from '../../machines/stops.js';
import type { Stop } from '../../protocol/agent/agent.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { Session, SessionStore } from '../../protocol/session/store.js';

export interface StoreWatch {
  whenLost(act: (stop: Stop) => void): void;
  end(): void;
}

export const watchStore = (
  store: Pick<SessionStore, 'outages'>,
  { lost }: Pick<Session, 'lost'>,
  feed: Feed,
): StoreWatch => {
  const forget = tellOutages(store, (text) => feed.emit({ type: 'notice', text }));
  let heed = () => {};
  return {
    whenLost(act) {
      heed = () => {
        act(stops.storageFailed((lost.reason as Error).message));
      };
      if (lost.aborted) heed();
      else lost.addEventListener('abort', heed, { once: true });
    },
    end() {
      forget();
      lost.removeEventListener('abort', heed);
    },
  };
};

/** Until what it returns is called. */
export const tellOutages = (
  { outages }: Pick<SessionStore, 'outages'>,
  tell: (sentence: string) => void,
): (() => void) => outages?.listen((trouble) => tell(outageText(trouble))) ?? (() => {});

/** Without a trouble it is over. */
export const outageText = (trouble: string | undefined): string =>
  trouble === undefined
    ? 'Redis is back: everybody goes on.'
    : `${trouble}: everybody waits where they are.`;
