/** Messages that agents of this process are streaming, for transcripts that are opened meanwhile. */
import type { FeedItem } from '../../protocol/session/feed.js';
import { StreamedItems } from './streamed-items.js';

export class LiveMessages {
  /** Agents with an unfinished message. Finished messages are in the journal. */
  private readonly agents = new Map<string, StreamedItems>();

  take(agent: string, item: FeedItem, now: number): void {
    if (item.type === 'stream.event') {
      const streamed = this.agents.get(agent) ?? new StreamedItems();
      this.agents.set(agent, streamed);
      streamed.take(item, now);
    } else if (ENDS.has(item.type)) this.agents.delete(agent);
  }

  /** Returns a copy that the caller continues independently. */
  copyOf(agent: string): StreamedItems {
    return this.agents.get(agent)?.copy() ?? new StreamedItems();
  }
}

const ENDS: ReadonlySet<FeedItem['type']> = new Set([
  'request.started' as const,
  'attempt.discarded' as const,
  'assistant.message' as const,
  'run.ended' as const,
]);
