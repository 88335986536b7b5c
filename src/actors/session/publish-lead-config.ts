/**
 * What the workers of a swarm must know, kept where they find it. When the person at the lead chooses
 * another mode they are told: what holds for the lead holds for all of its agents.
 */
import { StorageError } from '../../protocol/errors.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { Session } from '../../protocol/session/store.js';
import type { SessionOptions } from './lead-session.js';

/** Between two attempts, where the store refuses. */
const PAUSE_MS = 1_000;

/** Before anything is handed over. */
export const putTerms = async (
  { terms }: Pick<SessionOptions, 'terms'>,
  session: Session,
): Promise<void> => {
  const written = terms?.write(session);
  if (written !== undefined) await session.putArtifact(written.name, written.bytes);
};

/** Puts them again whenever they change. `end` waits for what is on its way, unless the store is away. */
export const keepTerms = (
  options: Pick<SessionOptions, 'terms' | 'store' | 'clock'>,
  session: Session,
  feed: Feed,
): { end(): Promise<void> } => {
  const { clock } = options;
  let isOver = false;
  let isStale = false;
  let posting: Promise<void> | undefined;
  const post = async () => {
    let isTold = false;
    while (isStale) {
      isStale = false;
      try {
        await putTerms(options, session);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        // Whoever leads now says which mode holds.
        if (session.lost.aborted || isOver) return;
        if (!isTold) feed.emit({ type: 'notice', text: notYet(error) });
        isTold = true;
        isStale = true;
        await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + PAUSE_MS, resolve));
      }
    }
  };
  const stop = options.terms?.listen(() => {
    isStale = true;
    posting ??= post().finally(() => {
      posting = undefined;
    });
  });
  return {
    async end() {
      isOver = true;
      stop?.();
      await unlessAway(options.store.outages, posting);
    },
  };
};

const unlessAway = async (
  outages: SessionOptions['store']['outages'],
  work: Promise<void> | undefined,
): Promise<void> => {
  if (work === undefined || outages?.trouble !== undefined) return;
  let forget: (() => void) | undefined;
  const isAway = new Promise<void>((resolve) => {
    forget = outages?.listen((trouble) => trouble !== undefined && resolve());
  });
  await Promise.race([work, isAway]);
  forget?.();
};

const notYet = ({ message }: StorageError): string =>
  `Agents on workers do not know yet which permission mode holds now: ${message}`;
