/**
 * What a program that runs agents is told: a closed union in the vocabulary of stream-json, with a
 * few words more.
 */
import type { StopReason } from '../../../protocol/agent/agent.js';
import type { ChildKind, ChildOutcome } from '../../../protocol/agent/swarm.js';
import type { Todo } from '../../../protocol/agent/todos.js';
import type { StreamEvent } from '../../../protocol/model/model.js';
import type {
  PermissionMode,
  PermissionQuestion,
} from '../../../protocol/permission/permission.js';
import type { ResultBlock } from '../../../protocol/tools/tool.js';
import type { TaskWorktree } from './task-worktree.js';

export type SkeinMessage =
  | InitMessage
  | NoticeMessage
  | RequestStartedMessage
  | AttemptDiscardedMessage
  | CompactBoundaryMessage
  | TodosMessage
  | TaskMessage
  | StreamEventMessage
  | AssistantMessage
  | PermissionRequestMessage
  | ToolCallMessage
  | ToolProgressMessage
  | UserMessage
  | ResultMessage;

/** The first of a run: what it has to work with. */
export interface InitMessage {
  readonly type: 'system';
  readonly subtype: 'init';
  readonly session_id: string;
  readonly cwd: string;
  readonly model: string;
  readonly tools: readonly string[];
  /** Types of agents that can be asked for. */
  readonly agents: readonly string[];
  readonly mcp_servers: readonly string[];
  readonly permissionMode: PermissionMode;
  readonly version: string;
  readonly uuid: string;
}

/** A sentence that a person should see: a setting that was ignored, a retry, a bound that was hit, a store that is away. */
export interface NoticeMessage extends Belonging {
  readonly type: 'system';
  readonly subtype: 'notice';
  readonly text: string;
}

export interface RequestStartedMessage extends Belonging {
  readonly type: 'system';
  readonly subtype: 'request_started';
  readonly turn: number;
  readonly attempt: number;
  readonly model: string;
}

/** A tombstone: whatever this attempt streamed does not count. */
export interface AttemptDiscardedMessage extends Belonging {
  readonly type: 'system';
  readonly subtype: 'attempt_discarded';
  readonly turn: number;
  readonly attempt: number;
  readonly reason: string;
}

/** The conversation was made shorter here. */
export interface CompactBoundaryMessage extends Belonging {
  readonly type: 'system';
  readonly subtype: 'compact_boundary';
  readonly summary: string;
}

/** The agent's list of things to do, as it is from now on. */
export interface TodosMessage extends Belonging {
  readonly type: 'system';
  readonly subtype: 'todos';
  readonly todos: readonly Todo[];
}

export type TaskMessage =
  | TaskPreviewMessage
  | TaskStartedMessage
  | TaskProgressMessage
  | TaskNotificationMessage;

/**
 * Many agents are about to start: what they may cost in USD, from the least to the most that is likely;
 * null when the price of a model is not known.
 */
export interface TaskPreviewMessage {
  readonly type: 'system';
  readonly subtype: 'task_preview';
  readonly count: number;
  readonly model: string;
  readonly cost_usd: readonly [number, number] | null;
  readonly uncached_cost_usd: readonly [number, number] | null;
  readonly session_id: string;
}

/** The agent that a message is about, which works for another. */
export interface TaskBelonging {
  /** Its id. What it says itself carries `tool_use_id` as `parent_tool_use_id`. */
  readonly task_id: string;
  /** The call that asked for it. */
  readonly tool_use_id: string;
  readonly description: string;
  /** Null is a fork of whoever asked. */
  readonly subagent_type: string | null;
  readonly name?: string;
  /** The agent that asked for it; null is the lead. */
  readonly parent_task_id: string | null;
  readonly session_id: string;
}

export interface TaskStartedMessage extends TaskBelonging {
  readonly type: 'system';
  readonly subtype: 'task_started';
  readonly task_type: ChildKind;
  readonly model: string;
  /** It waits for a place. */
  readonly is_queued: boolean;
  /** Its beginning, where it is long. */
  readonly prompt: string;
}

/** At the end of a turn, once in a second at most. */
export interface TaskProgressMessage extends TaskBelonging {
  readonly type: 'system';
  readonly subtype: 'task_progress';
  readonly num_turns: number;
  readonly usage: TaskUsage;
  readonly cost_usd: number | null;
  readonly last_tool_name?: string;
}

/** It has ended. */
export interface TaskNotificationMessage extends TaskBelonging {
  readonly type: 'system';
  readonly subtype: 'task_notification';
  /** A teammate that has done what it was told, and waits for messages. */
  readonly is_idle?: true;
  readonly status: ChildOutcome;
  readonly stop_reason: StopReason;
  /** Why, where the reason does not say it all. */
  readonly detail?: string;
  /** Its report, or the beginning of a long one. */
  readonly summary: string;
  readonly num_turns: number;
  readonly usage: TaskUsage;
  readonly cost_usd: number | null;
  readonly changed_files: readonly string[];
  /** What became of its work, of one that had a worktree. */
  readonly worktree?: TaskWorktree;
}

export interface TaskUsage {
  readonly total_tokens: number;
  readonly tool_uses: number;
  readonly duration_ms: number;
}

/** A raw event of an unfinished message; only with `includePartialMessages`. */
export interface StreamEventMessage extends Belonging {
  readonly type: 'stream_event';
  readonly event: StreamEvent;
}

/** One whole message of the model, with all its blocks. */
export interface AssistantMessage extends Belonging {
  readonly type: 'assistant';
  readonly message: {
    readonly id: string | null;
    readonly type: 'message';
    readonly role: 'assistant';
    readonly model: string;
    readonly content: readonly AssistantBlock[];
    readonly stop_reason: string;
    readonly stop_sequence: null;
    readonly usage: MessageUsage;
  };
}

/** A person, or `canUseTool`, is asked about a call. */
export interface PermissionRequestMessage extends Belonging {
  readonly type: 'permission_request';
  readonly request: PermissionQuestion;
}

/** A call starts. Its result comes in a user message, with those of its neighbours. */
export interface ToolCallMessage extends Belonging {
  readonly type: 'tool_call';
  readonly tool_use_id: string;
  readonly name: string;
  /** What it runs with: checked, and as `canUseTool` may have changed it. */
  readonly input: unknown;
  /** One short line for people. */
  readonly description: string;
}

/** How far a call is. The model never reads it. */
export interface ToolProgressMessage extends Belonging {
  readonly type: 'tool_progress';
  readonly tool_use_id: string;
  readonly note: string;
}

/** The results of a turn, in the order of its calls. */
export interface UserMessage extends Belonging {
  readonly type: 'user';
  readonly message: { readonly role: 'user'; readonly content: readonly ToolResultBlock[] };
}

/** The last of a run. */
export interface ResultMessage {
  readonly type: 'result';
  readonly subtype:
    | 'success'
    | 'error_max_turns'
    | 'error_max_budget_usd'
    | 'error_during_execution';
  readonly is_error: boolean;
  /** The answer, or why there is none. */
  readonly result: string;
  /** What the model had said when the run ended without an answer. */
  readonly partial_result?: string;
  /** `lost`: the process of the agent is gone, and nobody has written down how the run ended. */
  readonly stop_reason: StopReason | 'lost';
  /** Those of the lead. */
  readonly num_turns: number;
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  /** Null when the price of a model is unknown. All sums are those of the session and its agents. */
  readonly total_cost_usd: number | null;
  /** By how much answers in flight passed the ceilings of the run; left out when they did not. */
  readonly budget_overshoot_usd?: number;
  readonly budget_overshoot_tokens?: number;
  readonly usage: MessageUsage;
  readonly modelUsage: Readonly<Record<string, ModelUsage>>;
  readonly permission_denials: readonly PermissionDenial[];
  /** With `jsonSchema`, when the answer was JSON. */
  readonly structured_output?: unknown;
  readonly session_id: string;
  readonly uuid: string;
}

export interface Belonging {
  /** Null for the lead; the call that started it for any other agent. */
  readonly parent_tool_use_id: string | null;
  readonly session_id: string;
}

/** Blocks of any other kind are handed on as they came. */
export type AssistantBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | {
      readonly type: 'tool_use' | 'server_tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
    };

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string | readonly ResultBlock[];
  readonly is_error?: boolean;
}

export interface MessageUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly costUSD: number | null;
}

export interface PermissionDenial {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: unknown;
  readonly reason: string;
  /** Who was denied it, when it was not the lead. */
  readonly agent_id?: string;
}
