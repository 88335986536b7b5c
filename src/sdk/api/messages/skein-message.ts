/**
 * Messages that a program receives: a closed union in the vocabulary of stream-json. Every message has a
 * `session_id` and a `uuid` of its own.
 */

import type { ChildKind } from '../../../protocol/agent/agent-tag.js';
import type { ChildOutcome } from '../../../protocol/agent/child-report.js';
import type { StopReason } from '../../../protocol/agent/stop.js';
import type { Todo } from '../../../protocol/agent/todo.js';
import type { StreamEvent } from '../../../protocol/model/model-port.js';
import type { PermissionMode } from '../../../protocol/permission/permission-mode.js';
import type { PermissionQuestion } from '../../../protocol/permission/permission-question.js';
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

/** First message of a run: its tools, agents, model and mode. */
export interface InitMessage {
  readonly type: 'system';
  readonly subtype: 'init';
  readonly session_id: string;
  readonly cwd: string;
  readonly model: string;
  readonly tools: readonly string[];
  /** Agent types that Task can start. */
  readonly agents: readonly string[];
  readonly mcp_servers: readonly string[];
  readonly permissionMode: PermissionMode;
  readonly version: string;
  readonly uuid: string;
}

/** A sentence for the person: an ignored setting, a retry, a limit that was hit, a store outage. */
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

/** Everything that this attempt streamed is void. */
export interface AttemptDiscardedMessage extends Belonging {
  readonly type: 'system';
  readonly subtype: 'attempt_discarded';
  readonly turn: number;
  readonly attempt: number;
  readonly reason: string;
}

/** The conversation was compacted here. */
export interface CompactBoundaryMessage extends Belonging {
  readonly type: 'system';
  readonly subtype: 'compact_boundary';
  readonly summary: string;
}

/** The agent's todo list after a change. */
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
 * Cost estimate in USD before many agents start, from the lowest to the highest likely cost. Null if the price
 * of the model is unknown.
 */
export interface TaskPreviewMessage {
  readonly type: 'system';
  readonly subtype: 'task_preview';
  readonly count: number;
  readonly model: string;
  readonly cost_usd: readonly [number, number] | null;
  readonly uncached_cost_usd: readonly [number, number] | null;
  readonly session_id: string;
  readonly uuid: string;
}

/** Sub-agent that a task message is about. */
export interface TaskBelonging {
  /** Id of the agent. Its own messages have `tool_use_id` as `parent_tool_use_id`. */
  readonly task_id: string;
  /** Id of the Task call that started the agent. */
  readonly tool_use_id: string;
  readonly description: string;
  /** Null for a fork of its parent. */
  readonly subagent_type: string | null;
  readonly name?: string;
  /** Id of the parent agent. Null if the parent is the lead. */
  readonly parent_task_id: string | null;
  /** Time of the message, ISO 8601. */
  readonly timestamp: string;
  readonly session_id: string;
  readonly uuid: string;
}

export interface TaskStartedMessage extends TaskBelonging {
  readonly type: 'system';
  readonly subtype: 'task_started';
  readonly task_type: ChildKind;
  readonly model: string;
  /** True if the agent waits for a concurrency slot. */
  readonly is_queued: boolean;
  /** Prompt of the agent, cut to 4,000 characters. */
  readonly prompt: string;
}

/** Progress of an agent at the end of a turn, at most once per second. */
export interface TaskProgressMessage extends TaskBelonging {
  readonly type: 'system';
  readonly subtype: 'task_progress';
  readonly num_turns: number;
  readonly usage: TaskUsage;
  readonly cost_usd: number | null;
  readonly last_tool_name?: string;
  /** Name of the worker that has just started the agent. */
  readonly worker?: string;
}

/** The agent has ended, or a teammate is idle. */
export interface TaskNotificationMessage extends TaskBelonging {
  readonly type: 'system';
  readonly subtype: 'task_notification';
  /** Present if the agent is a teammate that has finished its work and waits for messages. */
  readonly is_idle?: true;
  readonly status: ChildOutcome;
  readonly stop_reason: StopReason;
  /** Details of the stop reason. */
  readonly detail?: string;
  /** Report of the agent, cut to 10,000 characters. */
  readonly summary: string;
  readonly num_turns: number;
  readonly usage: TaskUsage;
  readonly cost_usd: number | null;
  readonly changed_files: readonly string[];
  /** Outcome of the agent's worktree. Present if it had one. */
  readonly worktree?: TaskWorktree;
}

export interface TaskUsage {
  readonly total_tokens: number;
  readonly tool_uses: number;
  readonly duration_ms: number;
}

/** Raw event of an unfinished message. Sent only with `includePartialMessages`. */
export interface StreamEventMessage extends Belonging {
  readonly type: 'stream_event';
  readonly event: StreamEvent;
}

/** Complete message of the model, with all its blocks. */
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

/** A question about a call was sent to the person or to `canUseTool`. */
export interface PermissionRequestMessage extends Belonging {
  readonly type: 'permission_request';
  readonly request: PermissionQuestion;
}

/** A call starts. Its result comes in a user message with the other results of the turn. */
export interface ToolCallMessage extends Belonging {
  readonly type: 'tool_call';
  readonly tool_use_id: string;
  readonly name: string;
  /** Checked input, after changes by hooks or `canUseTool`. */
  readonly input: unknown;
  /** One short line for people. */
  readonly description: string;
}

/** Progress of a call. The model does not see it. */
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

/** Last message of a run. */
export interface ResultMessage {
  readonly type: 'result';
  readonly subtype:
    | 'success'
    | 'error_max_turns'
    | 'error_max_budget_usd'
    | 'error_during_execution';
  readonly is_error: boolean;
  /** Answer, or the reason why there is none. */
  readonly result: string;
  /** Why there is no answer, in sentences. Present unless the subtype is `success`. */
  readonly errors?: readonly string[];
  /** Last text of the model if the run ended without an answer. */
  readonly partial_result?: string;
  /**
   * `lost`: the agent's process ended before it reported the end of the run. `not_started`: the session could not
   * be opened.
   */
  readonly stop_reason: StopReason | 'lost' | 'not_started';
  /** Turns of the lead. */
  readonly num_turns: number;
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  /** Cost of the session and its agents. Null if the price of a model is unknown. */
  readonly total_cost_usd: number | null;
  /** Amount by which responses in flight exceeded the budget. Left out if they did not. */
  readonly budget_overshoot_usd?: number;
  readonly budget_overshoot_tokens?: number;
  readonly usage: MessageUsage;
  readonly modelUsage: Readonly<Record<string, ModelUsage>>;
  readonly permission_denials: readonly PermissionDenial[];
  /** Agents that ended because Redis has lost records of them. Only if there are any. */
  readonly lost_records?: readonly { readonly agent_id: string; readonly records: number }[];
  /** Sentences about damaged files of the session, with file and line. Left out if there are none. */
  readonly damage?: readonly string[];
  /** Parsed answer. Present with `jsonSchema` if the answer is JSON. */
  readonly structured_output?: unknown;
  readonly session_id: string;
  readonly uuid: string;
}

export interface Belonging {
  /** Id of the Task call that started the agent. Null for the lead. */
  readonly parent_tool_use_id: string | null;
  readonly session_id: string;
  readonly uuid: string;
}

/** Block of a model's message. Blocks of unknown types are passed on unchanged. */
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
  /** Id of the agent whose call was denied. Left out for the lead. */
  readonly agent_id?: string;
}
