/** Tells of agents that work for others: that one has begun, how far it is, and what came of it. */
import { spendingOf } from '../../../context/budget/event-spending.js';
import {
  type AgentTag,
  type ChildReport,
  type FanOutPreview,
  outcomeOf,
} from '../../../protocol/agent/swarm.js';
import { costOf } from '../../../protocol/model/prices.js';
import { type Usage, windowTokens } from '../../../protocol/model/usage.js';
import type { SwarmEvent } from '../../../protocol/session/events.js';
import type { FeedItem } from '../../../protocol/session/feed.js';
import type {
  TaskBelonging,
  TaskMessage,
  TaskNotificationMessage,
  TaskPreviewMessage,
  TaskProgressMessage,
  TaskStartedMessage,
} from './messages.js';
import { taskWorktree } from './task-worktree.js';

/** An agent tells of its progress no more often than this. */
const PROGRESS_EVERY_MS = 1_000;
const LONGEST_PROMPT = 4_000;
const LONGEST_SUMMARY = 10_000;
const MOST_FILES = 200;

interface Progress {
  readonly began: number;
  told: number;
  turns: number;
  tokens: number;
  tools: number;
  cost: number | null;
  lastTool: string | undefined;
}

/** Holds figures of agents that are under way, and nothing of those that have ended. */
export class TaskMessages {
  private readonly session: string;
  private readonly now: () => number;
  private readonly running = new Map<string, Progress>();

  constructor(session: string, now: () => number = () => performance.now()) {
    this.session = session;
    this.now = now;
  }

  /** The message that this item is worth, beside those that it is itself. */
  take(item: FeedItem): TaskMessage | undefined {
    if (item.type === 'agent.spawned') return this.begin(item);
    if (item.type === 'agent.ended') return this.end(item.report);
    if (item.type === 'agent.rested') return { ...this.end(item.report), is_idle: true };
    if (item.type === 'fan-out.previewed') return this.announce(item.preview);
    if (item.type === 'agent.seen') return this.see(item.agent, item.event);
    return item.type === 'agent.feed' ? this.hear(item.agent, item.item) : undefined;
  }

  private announce({ count, model, withCache, withoutCache }: FanOutPreview): TaskPreviewMessage {
    return {
      type: 'system',
      subtype: 'task_preview',
      count,
      model,
      cost_usd: withCache,
      uncached_cost_usd: withoutCache,
      session_id: this.session,
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
      prompt: startOf(prompt, LONGEST_PROMPT),
    };
  }

  private hear(agent: AgentTag, item: FeedItem): TaskProgressMessage | undefined {
    const progress = this.progressOf(agent);
    if (item.type === 'tool.started') {
      progress.tools += 1;
      progress.lastTool = item.tool;
    }
    if (item.type !== 'assistant.message') return undefined;
    const { model, usage } = item;
    return this.count(agent, progress, usage, costOf(model, usage) ?? null);
  }

  /** One that works in another process. */
  private see(agent: AgentTag, event: SwarmEvent): TaskProgressMessage | undefined {
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
    if (now - progress.told < PROGRESS_EVERY_MS) return undefined;
    progress.told = now;
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
      summary: startOf(text, LONGEST_SUMMARY),
      num_turns: turns,
      cost_usd: cost,
      usage: { ...this.usageOf(progress), total_tokens: tokens },
      changed_files: changedFiles.slice(0, MOST_FILES),
      ...(worktree !== undefined && { worktree: taskWorktree(worktree) }),
    };
  }

  /** One that nobody has announced is taken up where it is: it may go on after a crash. */
  private progressOf({ id }: AgentTag): Progress {
    const known = this.running.get(id);
    if (known !== undefined) return known;
    const fresh = { turns: 0, tokens: 0, tools: 0, cost: 0, lastTool: undefined };
    const progress = { began: this.now(), told: Number.NEGATIVE_INFINITY, ...fresh };
    this.running.set(id, progress);
    return progress;
  }

  private usageOf({ tokens, tools, began }: Progress): TaskProgressMessage['usage'] {
    const duration_ms = Math.round(this.now() - began);
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
      session_id: this.session,
    };
  }
}

const startOf = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length)}…`.toWellFormed();
