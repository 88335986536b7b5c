/** Live agents: running children of the session with their current activity and start time. */
import { redact } from '../../policy/redaction/redact.js';
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { agentName } from '../../terminal/output/swarm-lines.js';
import { oneLine, sanitize } from '../../terminal/text/sanitize.js';

interface LiveAgent {
  readonly tag: AgentTag;
  readonly name: string;
  /** Current activity. */
  readonly doing: string;
  readonly isQueued: boolean;
  readonly isAsking: boolean;
  /** Start time, by the clock of `LiveAgents`. */
  readonly since: number;
}

export class LiveAgents {
  private readonly now: () => number;
  private readonly live = new Map<string, LiveAgent>();

  constructor(now: () => number) {
    this.now = now;
  }

  get agents(): readonly LiveAgent[] {
    return [...this.live.values()];
  }

  get size(): number {
    return this.live.size;
  }

  /** Counts running and queued agents. An asking agent counts as neither, because it waits for its answer. */
  counts(): { readonly running: number; readonly queued: number } {
    let [running, queued] = [0, 0];
    for (const { isQueued, isAsking } of this.live.values()) {
      if (isQueued) queued += 1;
      else if (!isAsking) running += 1;
    }
    return { running, queued };
  }

  /** Applies a feed item. Returns true if an agent has changed. */
  receive(item: FeedItem): boolean {
    switch (item.type) {
      case 'agent.spawned':
        this.put(item.agent, {
          isQueued: item.isQueued,
          doing: item.isQueued ? 'queued' : 'starts',
        });
        return true;
      case 'agent.ended':
      case 'agent.rested':
        return this.live.delete(item.report.agent.id);
      case 'agent.feed':
        return this.receiveInner(item.agent, item.item);
      default:
        return false;
    }
  }

  clear(): void {
    this.live.clear();
  }

  private receiveInner(agent: AgentTag, item: FeedItem): boolean {
    const doing = doingOf(item);
    if (doing === undefined) return false;
    this.put(agent, { doing, isQueued: false, isAsking: item.type === 'question.asked' });
    return true;
  }

  private put(tag: AgentTag, changes: Partial<LiveAgent>): void {
    const current = this.live.get(tag.id);
    const fresh = { tag, name: agentName(tag), since: this.now(), isQueued: false };
    this.live.set(tag.id, { isAsking: false, doing: '', ...(current ?? fresh), ...changes });
  }
}

/** Returns the activity that an item starts; undefined for other items, such as raw stream events. */
const doingOf = (item: FeedItem): string | undefined => {
  if (item.type === 'request.started') return 'streaming';
  if (item.type === 'tool.started') return oneLine(sanitize(redact(item.description)), 200);
  if (item.type === 'question.asked' || item.type === 'person.asked') return 'asks';
  if (item.type === 'attempt.discarded') return 'retrying';
  return item.type === 'context.compacted' ? 'compacted' : undefined;
};
