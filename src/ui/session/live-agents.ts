/** Live agents: running children of the session with their current activity and start time. */
import { redact } from '../../policy/redaction/redact.js';
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
import type { FeedItem, ScheduledRetry } from '../../protocol/session/feed.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { agentName, workerName } from '../../terminal/output/swarm-lines.js';
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
          doing: item.isQueued ? queuedText(item.awaits) : 'starts',
        });
        return true;
      case 'agent.seen':
        return this.receiveEvent(item);
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

  /** Applies an event of an agent on a worker. */
  private receiveEvent({ agent, event, worker }: Seen): boolean {
    const doing = worker === undefined ? activityOf(event) : `runs on worker ${workerName(worker)}`;
    // An agent that is shown as ended may have later events.
    if (doing === undefined || !this.live.has(agent.id)) return false;
    const isAsking = event.type === 'permission.requested';
    this.put(agent, { doing, isQueued: event.type === 'agent.queued', isAsking });
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
  if (item.type === 'notice') return item.retry && retryText(item.retry);
  if (item.type === 'request.started') return 'streaming';
  if (item.type === 'tool.started') return oneLine(sanitize(redact(item.description)), 200);
  if (item.type === 'question.asked' || item.type === 'person.asked') return 'asks';
  if (item.type === 'attempt.discarded') return 'retrying';
  return item.type === 'context.compacted' ? 'compacted' : undefined;
};

const retryText = ({ attempt, attempts, durationMs }: ScheduledRetry): string =>
  `retrying, attempt ${attempt} of ${attempts} in ${Math.ceil(durationMs / 1000)} s`;

type Seen = Extract<FeedItem, { type: 'agent.seen' }>;

const queuedText = (awaits: 'worker' | undefined): string =>
  awaits === 'worker' ? 'queued for a worker' : 'queued';

/** Returns the activity that an event of a remote agent starts; undefined for other events. */
const activityOf = (event: SwarmEvent): string | undefined => {
  switch (event.type) {
    case 'agent.queued':
      return event.awaits === 'place' ? 'queued' : 'queued for a worker';
    case 'epoch.began':
      return 'runs on a worker';
    case 'turn.started':
      return 'streaming';
    case 'tool.started':
      return oneLine(sanitize(redact(String(event.description))), 200);
    case 'permission.requested':
      return 'asks';
    case 'turn.failed':
      return 'retrying';
    case 'retry.scheduled':
      return retryText({
        attempt: Number(event.attempt),
        attempts: Number(event.attempts),
        durationMs: Number(event.durationMs),
      });
    case 'context.compacted':
      return 'compacted';
    default:
      return undefined;
  }
};
