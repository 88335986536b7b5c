/**
 * Passes the feed items of an agent to all listeners in this process, synchronously and without a
 * copy.
 */
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
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

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: FeedListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Yields the feed items until `isLast` returns true. A reader that falls behind by more than
   * 10,000 items loses raw stream events, but no other items, and gets a notice. Throws the error
   * of `source` if that promise rejects, because then the last item never comes.
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

/** Returns the feed of a child: passes each item to the lead's feed, tagged with the child. */
export const childFeed = (agent: AgentTag, lead: Feed, onActivity: () => void): Feed => ({
  wantsStreamEvents: lead.wantsStreamEvents,
  emit(item) {
    onActivity();
    lead.emit({ type: 'agent.feed', agent, item });
  },
});
