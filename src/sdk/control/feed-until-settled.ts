/** Yields the feed of a session until it has settled: the session is idle and no background agent works. */
import type { LeadSession } from '../../actors/session/lead-session.js';
import type { FeedItem } from '../../protocol/session/feed.js';

type SettlingSession = Pick<
  LeadSession,
  'isIdle' | 'listen' | 'stopped' | 'pendingReports' | 'onPendingReports'
>;

/** Maximum waiting items. Beyond it stream events are dropped. */
const MAX_BEHIND = 10_000;

/**
 * Listens from the first pull on, so no item between two runs is lost. After an abort the feed ends as soon as the
 * session is idle. With `isOpen` it ends only then.
 */
export async function* feedUntilSettled(
  session: SettlingSession,
  signal: AbortSignal,
  isOpen = false,
): AsyncGenerator<FeedItem, void> {
  let queue: FeedItem[] = [];
  let hasStopped = false;
  let wake = () => {};
  const look = () => wake();
  const onStop = () => {
    hasStopped = true;
    wake();
  };
  const stopFeed = session.listen((item) => {
    if (item.type === 'stream.event' && queue.length >= MAX_BEHIND) return;
    queue.push(item);
    wake();
  });
  const stopCounts = session.onPendingReports(look);
  signal.addEventListener('abort', look, { once: true });
  session.stopped.then(onStop, onStop);
  try {
    for (;;) {
      const batch = queue;
      queue = [];
      yield* batch;
      if (queue.length > 0) continue;
      const isDue = signal.aborted || (!isOpen && session.pendingReports === 0);
      if (hasStopped || (session.isIdle && isDue)) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stopFeed();
    stopCounts();
    signal.removeEventListener('abort', look);
  }
}
