/**
 * Publishes the configuration of a lead for its workers, and again when a person changes the mode.
 * The mode of the lead holds for all its agents.
 */
import type { Feed } from '../../protocol/session/feed.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import { StorageError } from '../../protocol/skein-error.js';
import type { SessionOptions } from './lead-session.js';

/** Delay between two attempts while the store refuses. */
const RETRY_MS = 1_000;

/** Stores the configuration. Call before any agent is handed over. Rejects with StorageError. */
export const publishLeadConfig = async (
  { leadConfig }: Pick<SessionOptions, 'leadConfig'>,
  session: OwnedSession,
): Promise<void> => {
  const written = leadConfig?.write(session);
  if (written !== undefined) await session.putArtifact(written.name, written.bytes);
};

/**
 * Stores the configuration again after each change. `end` waits for a running write, unless the
 * store is unreachable.
 */
export const republishOnChange = (
  options: Pick<SessionOptions, 'leadConfig' | 'store' | 'clock'>,
  session: OwnedSession,
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
        await publishLeadConfig(options, session);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        // The process that owns the session now publishes its own configuration.
        if (session.lost.aborted || isOver) return;
        if (!isTold) feed.emit({ type: 'notice', text: notPublished(error) });
        isTold = true;
        isStale = true;
        await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + RETRY_MS, resolve));
      }
    }
  };
  const stop = options.leadConfig?.listen(() => {
    isStale = true;
    posting ??= post().finally(() => {
      posting = undefined;
    });
  });
  return {
    async end() {
      isOver = true;
      stop?.();
      await unlessStoreIsDown(options.store.outages, posting);
    },
  };
};

const unlessStoreIsDown = async (
  outages: SessionOptions['store']['outages'],
  work: Promise<void> | undefined,
): Promise<void> => {
  if (work === undefined || outages?.outage !== undefined) return;
  let forget: (() => void) | undefined;
  const isAway = new Promise<void>((resolve) => {
    forget = outages?.listen((outage) => outage !== undefined && resolve());
  });
  await Promise.race([work, isAway]);
  forget?.();
};

const notPublished = ({ message }: StorageError): string =>
  `Workers have not received the new permission mode yet: ${message}`;
