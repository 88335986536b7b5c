/** A session tells its listeners when its store is out of reach, and ends when another process has taken it over. */
import * as stops from '../machines/stops.js';
import type { Stop } from '../protocol/agent.js';
import type { Feed } from '../protocol/feed.js';
import type { Session, SessionStore } from '../protocol/store.js';

export interface StoreWatch {
  whenLost(act: (stop: Stop) => void): void;
  end(): void;
}

export const watchStore = (
  { outages }: Pick<SessionStore, 'outages'>,
  { lost }: Pick<Session, 'lost'>,
  feed: Feed,
): StoreWatch => {
  const say = (text: string) => feed.emit({ type: 'notice', text });
  const forget = outages?.listen((trouble) =>
    say(trouble === undefined ? BACK : `${trouble}: everybody waits where they are.`),
  );
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
      forget?.();
      lost.removeEventListener('abort', heed);
    },
  };
};

const BACK = 'Redis is back: everybody goes on.';
