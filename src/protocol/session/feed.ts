/** What an agent says while it runs, to listeners in its own process. Never stored as such. */
import type { Stop } from '../agent/agent.js';
import type { AgentTag, ChildReport, FanOutPreview } from '../agent/swarm.js';
import type { Todo } from '../agent/todos.js';
import type { StreamEvent } from '../model/model.js';
import type { Usage } from '../model/usage.js';
import type { RawJson } from '../model/wire.js';
import type { PermissionQuestion, PersonQuestion } from '../permission/permission.js';
import type { SwarmEvent } from './events.js';
import type { CallOutcome } from './journal.js';

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
      /** The blocks as they are kept. */
      readonly content: RawJson;
      readonly stopReason: string;
      readonly usage: Usage;
    }
  | {
      readonly type: 'tool.started';
      readonly call: string;
      readonly tool: string;
      /** What it runs with: checked, and as a person may have changed it. */
      readonly input: unknown;
      readonly description: string;
    }
  | { readonly type: 'tool.progress'; readonly call: string; readonly note: string }
  | {
      /** It is on disk; also for calls that never started. */
      readonly type: 'tool.ended';
      readonly call: string;
      readonly tool: string;
      /** What it ran with, or would have: as the model wants it where that was never found good. */
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
      /** A tombstone: whatever this attempt streamed does not count. */
      readonly type: 'attempt.discarded';
      readonly turn: number;
      readonly attempt: number;
      readonly reason: string;
    }
  | { readonly type: 'question.asked'; readonly question: PermissionQuestion }
  /** An agent wants a person to decide something; its surface has the same question. */
  | { readonly type: 'person.asked'; readonly question: PersonQuestion }
  | { readonly type: 'call.denied'; readonly denial: Denial }
  | { readonly type: 'context.compacted'; readonly summary: string }
  /** The agent's list of things to do, as it is from now on. */
  | { readonly type: 'todos.changed'; readonly todos: readonly Todo[] }
  | { readonly type: 'notice'; readonly text: string }
  /** An agent of the tree is on record; `queued` waits for a place. */
  | {
      readonly type: 'agent.spawned';
      readonly agent: AgentTag;
      readonly model: string;
      readonly isQueued: boolean;
      /** What it is asked to do. */
      readonly prompt: string;
    }
  /** What an agent below the lead says; every listener of the lead hears it. */
  | { readonly type: 'agent.feed'; readonly agent: AgentTag; readonly item: FeedItem }
  /** What the index tells of an agent that works in another process. */
  | { readonly type: 'agent.seen'; readonly agent: AgentTag; readonly event: SwarmEvent }
  | { readonly type: 'agent.ended'; readonly report: ChildReport }
  /** A teammate has done what it was told, and waits for letters. */
  | { readonly type: 'agent.rested'; readonly report: ChildReport }
  /** Shown before a large fan-out. */
  | { readonly type: 'fan-out.previewed'; readonly preview: FanOutPreview }
  | {
      readonly type: 'run.ended';
      readonly stop: Stop;
      readonly turns: number;
      /** Another run begins at once, with what was sent meanwhile. */
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
  /** Somebody wants every raw stream event; otherwise they are not even passed on. */
  readonly wantsStreamEvents: boolean;
}
