/** Live feed of a running agent, for listeners in the same process. Never stored. */

import type { AgentTag } from '../agent/agent-tag.js';
import type { FanOutPreview } from '../agent/agents.js';
import type { ChildReport } from '../agent/child-report.js';
import type { Stop } from '../agent/stop.js';
import type { Todo } from '../agent/todo.js';
import type { StreamEvent } from '../model/model-port.js';
import type { Usage } from '../model/usage.js';
import type { RawJson } from '../model/wire-block.js';
import type { PermissionQuestion, PersonQuestion } from '../permission/permission-question.js';
import type { CallOutcome } from './journal-record.js';
import type { SwarmEvent } from './swarm-event.js';

/** Number of records of an agent that the store has lost. */
export interface RecordLoss {
  readonly agent: string;
  readonly records: number;
}

/** Next attempt of a model request: its number, the maximum number of attempts, and the delay before it. */
export interface ScheduledRetry {
  readonly attempt: number;
  readonly attempts: number;
  readonly durationMs: number;
}

export type FeedItem =
  | {
      readonly type: 'request.started';
      readonly turn: number;
      readonly attempt: number;
      readonly model: string;
    }
  | { readonly type: 'stream.event'; readonly event: StreamEvent }
  | {
      readonly type: 'assistant.message';
      readonly messageId: string | null;
      readonly model: string;
      /** The blocks, as journaled. */
      readonly content: RawJson;
      readonly stopReason: string;
      readonly usage: Usage;
    }
  | {
      readonly type: 'tool.started';
      readonly call: string;
      readonly tool: string;
      /** The validated input, including changes by a person. */
      readonly input: unknown;
      readonly description: string;
    }
  | { readonly type: 'tool.progress'; readonly call: string; readonly note: string }
  | {
      /** The result is journaled. Also emitted for calls that never started. */
      readonly type: 'tool.ended';
      readonly call: string;
      readonly tool: string;
      /** The validated input, or the model's input if it was never validated. */
      readonly input: unknown;
      readonly description: string;
      readonly outcome: CallOutcome;
      /** The tool_result block. */
      readonly raw: RawJson;
    }
  | {
      readonly type: 'tool.results';
      /** The tool_result blocks in the order of the calls. */
      readonly content: RawJson;
    }
  | {
      /** Tombstone: ignore all stream events of this attempt. */
      readonly type: 'attempt.discarded';
      readonly turn: number;
      readonly attempt: number;
      readonly reason: string;
    }
  | { readonly type: 'question.asked'; readonly question: PermissionQuestion }
  /** An agent asks a person to choose. The surface gets the same question. */
  | { readonly type: 'person.asked'; readonly question: PersonQuestion }
  | { readonly type: 'call.denied'; readonly denial: Denial }
  | { readonly type: 'context.compacted'; readonly summary: string }
  /** The agent's new todo list. */
  | { readonly type: 'todos.changed'; readonly todos: readonly Todo[] }
  /**
   * `loss`: the store has lost records of an agent. `isDamage`: the sentence names a damaged file. `retry`: the agent
   * repeats a failed attempt.
   */
  | {
      readonly type: 'notice';
      readonly text: string;
      readonly loss?: RecordLoss;
      readonly isDamage?: true;
      readonly retry?: ScheduledRetry;
    }
  /** A sub-agent was spawned and journaled. With `isQueued`, it waits for a concurrency slot or a worker. */
  | {
      readonly type: 'agent.spawned';
      readonly agent: AgentTag;
      readonly model: string;
      readonly isQueued: boolean;
      /** Thing that a queued agent waits for. Default: a concurrency slot. */
      readonly awaits?: 'worker';
      /** Task of the agent. */
      readonly prompt: string;
    }
  /** Feed item of a sub-agent, forwarded to the listeners of the lead. */
  | { readonly type: 'agent.feed'; readonly agent: AgentTag; readonly item: FeedItem }
  /** Index event of an agent that another process runs. */
  | {
      readonly type: 'agent.seen';
      readonly agent: AgentTag;
      readonly event: SwarmEvent;
      /** Name of the worker that has started the agent. Only with an event `epoch.began`. */
      readonly worker?: string;
    }
  | { readonly type: 'agent.ended'; readonly report: ChildReport }
  /** A teammate has ended a run and waits for letters. */
  | { readonly type: 'agent.rested'; readonly report: ChildReport }
  /** Emitted before a large fan-out. */
  | { readonly type: 'fan-out.previewed'; readonly preview: FanOutPreview }
  | {
      readonly type: 'run.ended';
      readonly stop: Stop;
      readonly turns: number;
      /** True if another run starts at once, with the letters that arrived during this run. */
      readonly goesOn?: boolean;
    };

export interface Denial {
  readonly tool: string;
  readonly call: string;
  readonly input: unknown;
  readonly reason: string;
}

export type FeedListener = (item: FeedItem) => void;

export interface Feed {
  emit(item: FeedItem): void;
  /** True if a listener wants raw stream events. Otherwise they are not emitted. */
  readonly wantsStreamEvents: boolean;
}
