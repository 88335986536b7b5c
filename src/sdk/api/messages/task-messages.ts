/** Makes task messages about sub-agents: started, progress and ended. */
import { randomUUID } from 'node:crypto';
import { spendingOf } from '../../../context/budget/event-spending.js';
import type { AgentTag } from '../../../protocol/agent/agent-tag.js';
import type { FanOutPreview } from '../../../protocol/agent/agents.js';
import { type ChildReport, outcomeOf } from '../../../protocol/agent/child-report.js';
import { requestCost } from '../../../protocol/model/request-cost.js';
import { type Usage, windowTokens } from '../../../protocol/model/usage.js';
import type { FeedItem } from '../../../protocol/session/feed.js';
import type { SwarmEvent } from '../../../protocol/session/swarm-event.js';
import type {
  TaskBelonging,
  TaskMessage,
  TaskNotificationMessage,
  TaskPreviewMessage,
  TaskProgressMessage,
  TaskStartedMessage,
} from './skein-message.js';
import { taskWorktree } from './task-worktree.js';

/** Minimum time in ms between two progress messages of an agent. */
const PROGRESS_EVERY_MS = 1_000;
const MAX_PROMPT_LENGTH = 4_000;
const MAX_SUMMARY_LENGTH = 10_000;
const MAX_CHANGED_FILES = 200;

interface Progress {
  readonly startedAt: number;
  sentAt: number;
  turns: number;
  tokens: number;
  tools: number;
  cost: number | null;
  lastTool: string | undefined;
}

/** Keeps figures of running agents only. */
export class TaskMessages {
  private readonly session: string;
  private readonly now: () => number;
  private readonly wallClock: () => Date;
  private readonly running = new Map<string, Progress>();

  constructor(
    session: string,
    now: () => number = () => performance.now(),
    wallClock: () => Date = () => new Date(),
  ) {
    this.session = session;
    this.now = now;
    this.wallClock = wallClock;
  }

  /** Returns the task message for a feed item, or undefined. `toMessage` makes the other messages. */
  take(item: FeedItem): TaskMessage | undefined {
    if (item.type === 'agent.spawned') return this.begin(item);
    if (item.type === 'agent.ended') return this.end(item.report);
    if (item.type === 'agent.rested') return { ...this.end(item.report), is_idle: true };
    if (item.type === 'fan-out.previewed') return this.preview(item.preview);
    if (item.type === 'agent.seen') {
      return item.worker === undefined
        ? this.takeEvent(item.agent, item.event)
        : { ...this.progressMessage(item.agent, this.progressOf(item.agent)), worker: item.worker };
    }
    return item.type === 'agent.feed' ? this.takeFeed(item.agent, item.item) : undefined;
  }

  private preview({ count, model, withCache, withoutCache }: FanOutPreview): TaskPreviewMessage {
    return {
      type: 'system',
      subtype: 'task_preview',
      count,
      model,
      cost_usd: withCache,
      uncached_cost_usd: withoutCache,
      session_id: this.session,
      uuid: randomUUID(),
    };
  }

  private begin(item: Extract<FeedItem, { type: 'agent.spawned' }>): TaskStartedMessage {
    const { agent, model, isQueued: is_queued, prompt } = item;
    this.progressOf(agent);
    return {
      type: 'system',
      subtype: 'task_started',
      ...this.belonging(agent),
      task_type: agent.kind,
      model,
      is_queued,
      prompt: startOf(prompt, MAX_PROMPT_LENGTH),
    };
  }

  private takeFeed(agent: AgentTag, item: FeedItem): TaskProgressMessage | undefined {
    const progress = this.progressOf(agent);
    if (item.type === 'tool.started') {
      progress.tools += 1;
      progress.lastTool = item.tool;
    }
    if (item.type !== 'assistant.message') return undefined;
    const { model, usage } = item;
    return this.count(agent, progress, usage, requestCost(model, usage) ?? null);
  }

  /** Takes an event of an agent that runs in another process. */
  private takeEvent(agent: AgentTag, event: SwarmEvent): TaskProgressMessage | undefined {
    const progress = this.progressOf(agent);
    if (event.type === 'tool.started') {
      progress.tools += 1;
      progress.lastTool = String(event.tool);
    }
    const spent = event.type === 'turn.ended' ? spendingOf(event) : undefined;
    return spent && this.count(agent, progress, spent.usage, spent.cost);
  }

  private count(
    agent: AgentTag,
    progress: Progress,
    usage: Usage,
    cost: number | null,
  ): TaskProgressMessage | undefined {
    progress.turns += 1;
    progress.tokens += windowTokens(usage);
    progress.cost = progress.cost === null || cost === null ? null : progress.cost + cost;
    const now = this.now();
    if (now - progress.sentAt < PROGRESS_EVERY_MS) return undefined;
    progress.sentAt = now;
    return this.progressMessage(agent, progress);
  }

  private progressMessage(agent: AgentTag, progress: Progress): TaskProgressMessage {
    return {
      type: 'system',
      subtype: 'task_progress',
      ...this.belonging(agent),
      num_turns: progress.turns,
      usage: this.usageOf(progress),
      cost_usd: progress.cost,
      ...(progress.lastTool !== undefined && { last_tool_name: progress.lastTool }),
    };
  }

  private end(report: ChildReport): TaskNotificationMessage {
    const { agent, stop, text, turns, tokens, cost, changedFiles, worktree } = report;
    const progress = this.progressOf(agent);
    this.running.delete(agent.id);
    return {
      type: 'system',
      subtype: 'task_notification',
      ...this.belonging(agent),
      status: outcomeOf(stop),
      stop_reason: stop.reason,
      ...(stop.detail !== null && { detail: stop.detail }),
      summary: startOf(text, MAX_SUMMARY_LENGTH),
      num_turns: turns,
      cost_usd: cost,
      usage: { ...this.usageOf(progress), total_tokens: tokens },
      changed_files: changedFiles.slice(0, MAX_CHANGED_FILES),
      ...(worktree !== undefined && { worktree: taskWorktree(worktree) }),
    };
  }

  /** Starts figures at zero for an agent without a start message, such as one that resumes after a crash. */
  private progressOf({ id }: AgentTag): Progress {
    const current = this.running.get(id);
    if (current !== undefined) return current;
    const fresh = { turns: 0, tokens: 0, tools: 0, cost: 0, lastTool: undefined };
    const progress = { startedAt: this.now(), sentAt: Number.NEGATIVE_INFINITY, ...fresh };
    this.running.set(id, progress);
    return progress;
  }

  private usageOf({ tokens, tools, startedAt }: Progress): TaskProgressMessage['usage'] {
    const duration_ms = Math.round(this.now() - startedAt);
    return { total_tokens: tokens, tool_uses: tools, duration_ms };
  }

  private belonging({ id, parent, call, depth, type, name, description }: AgentTag): TaskBelonging {
    return {
      task_id: id,
      tool_use_id: call,
      description,
      subagent_type: type,
      ...(name !== undefined && { name }),
      parent_task_id: depth > 1 ? parent : null,
      timestamp: this.wallClock().toISOString(),
      session_id: this.session,
      uuid: randomUUID(),
    };
  }
}

const startOf = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length)}…`.toWellFormed();
