/** Hands what an agent says to whoever listens in this process, at once and without a copy. */
import type { Feed, FeedItem, FeedListener } from '../../protocol/session/feed.js';

export class FeedHub implements Feed {
  readonly wantsStreamEvents: boolean;
  private readonly listeners = new Set<FeedListener>();

  constructor(wantsStreamEvents: boolean) {
    this.wantsStreamEvents = wantsStreamEvents;
  }

  emit(item: FeedItem): void {
    for (const listener of this.listeners) listener(item);
  }

  /** The returned function ends it. */
  listen(listener: FeedListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * The same as a stream, for those who would rather pull, until `isLast` says so. A reader that
   * falls far behind loses raw stream events, which are only for show, and is told; nothing else.
   * Fails when `source` does: then the last item will never come.
   */
  async *follow(
    isLast: (item: FeedItem) => boolean,
    source?: Promise<unknown>,
  ): AsyncGenerator<FeedItem, void> {
    const queue: FeedItem[] = [];
    let dropped = 0;
    let wake: (() => void) | undefined;
    let failure: { readonly error: unknown } | undefined;
    source?.catch((error: unknown) => {
      failure = { error };
      wake?.();
    });
    const stop = this.listen((item) => {
      if (item.type === 'stream.event' && queue.length >= MAX_BEHIND) dropped += 1;
      else queue.push(item);
      wake?.();
    });
    try {
      for (;;) {
        while (queue.length === 0) {
          if (failure !== undefined) throw failure.error;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const batch = queue.splice(0);
        const end = batch.findIndex(isLast);
        yield* end === -1 ? batch : batch.slice(0, end);
        if (dropped > 0) {
          const text = `The reader fell behind: ${dropped} stream events dropped.`;
          dropped = 0;
          yield { type: 'notice', text };
        }
        if (end === -1) continue;
        yield* batch.slice(end, end + 1);
        return;
      }
    } finally {
      stop();
    }
  }
}

const MAX_BEHIND = 10_000;
