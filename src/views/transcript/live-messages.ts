/** What the agents of this process are saying right now, for whoever begins to listen in the middle of it. */
import type { FeedItem } from '../../protocol/session/feed.js';
import { StreamedItems } from './streamed-items.js';

export class LiveSpeech {
  /** Of those who speak: what is over is on record. */
  private readonly agents = new Map<string, StreamedItems>();

  take(agent: string, item: FeedItem, now: number): void {
    if (item.type === 'stream.event') {
      const said = this.agents.get(agent) ?? new StreamedItems();
      this.agents.set(agent, said);
      said.take(item, now);
    } else if (ENDS.has(item.type)) this.agents.delete(agent);
  }

  /** For somebody who goes on with it. */
  of(agent: string): StreamedItems {
    return this.agents.get(agent)?.copy() ?? new StreamedItems();
  }
}

const ENDS: ReadonlySet<FeedItem['type']> = new Set([
  'request.started' as const,
  'attempt.discarded' as const,
  'assistant.message' as const,
  'run.ended' as const,
]);
