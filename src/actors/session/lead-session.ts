/** Interface and options of a session as its hosts use it. */
import type { Spending } from '../../context/budget/spending.js';
import type { WindowThresholds } from '../../context/window/window-thresholds.js';
import type { RequestSettings } from '../../prompt/request/request-body.js';
import type { AgentOutput, AgentState } from '../../protocol/agent/agent-state.js';
import type { Budget, Caps } from '../../protocol/model/budget.js';
import type { PromptHead } from '../../protocol/model/prompt-head.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { AgentMode, PermissionMode } from '../../protocol/permission/permission-mode.js';
import type { FeedItem, FeedListener } from '../../protocol/session/feed.js';
import type { Fence } from '../../protocol/session/mailbox.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import type { SessionMeta } from '../../protocol/session/session-store.js';
import type { AgentDeps } from '../agent/agent.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { Checkpointer } from '../checkpoints/checkpointer.js';
import type { EndReason, HookEquipment } from '../hooks/session-hooks.js';
import type { SwarmSetup } from '../tree/swarm-context.js';
import type { BeginOptions } from './begin-session.js';
import type { PromptSettled } from './prompt-gate.js';
import type { Steering } from './steering.js';

/** Services that the host of a session makes for its lead, once the session is open. */
export interface LeadServices
  extends Pick<
    AgentDeps,
    | 'model'
    | 'fallbackModel'
    | 'governor'
    | 'windowOf'
    | 'limits'
    | 'staysIdle'
    | 'random'
    | 'toolbox'
    | 'toolCount'
    | 'permissions'
    | 'workspace'
    | 'shell'
    | 'search'
    | 'web'
    | 'openArtifact'
    | 'onRequestSent'
  > {
  /** Keeps files before calls change them. Undefined: the session cannot be rewound. */
  readonly checkpoints: Checkpointer | undefined;
}

/** Signs the configuration of a lead (start options and permission mode) for its workers. */
export interface LeadConfigPublisher {
  /**
   * Returns the current configuration as an artifact. Its version is newer than all earlier ones.
   */
  write(lead: Pick<OwnedSession, 'meta' | 'epoch'>): {
    readonly name: string;
    readonly bytes: Uint8Array;
  };
  /**
   * Returns a signed hand-over of an agent: the worker must use this configuration or a newer one.
   */
  handover(lead: Pick<OwnedSession, 'meta' | 'epoch'>, agent: string, at: number): string;
  /**
   * Calls the listener when the configuration changes. Returns a function that removes the
   * listener.
   */
  listen(listener: () => void): () => void;
}

export interface SessionOptions extends BeginOptions {
  /** Name of this process as the owner, for the journal. */
  readonly owner: string;
  readonly requestSettings: (model: string) => Omit<RequestSettings, 'model'>;
  /** Features of the provider. Default: those of the public API. */
  readonly capabilities?: Capabilities;
  /**
   * Beta features that this process requests. The session keeps each beta that it has ever sent.
   */
  readonly betas?: readonly string[];
  readonly budget: Pick<Caps, 'usd' | 'tokens'>;
  readonly wantsStreamEvents: boolean;
  /** Undefined if no hooks are configured. */
  readonly hooks?: HookEquipment | Hooks | undefined;
  /** Configuration for workers. Undefined if the swarm has no workers. */
  readonly leadConfig?: LeadConfigPublisher | undefined;
  /** Agent definitions and limits of the swarm. */
  readonly swarm: SwarmSetup;
}

export interface LeadSession {
  readonly id: string;
  readonly meta: SessionMeta;
  /** Fence of the lead. Undefined if no other process can write the session. */
  readonly fence: Fence | undefined;
  readonly model: string;
  readonly journal: JournaledState;
  /** Window of the model that answered last, with the limits that a person set. */
  readonly window: WindowThresholds;
  /** Spending of the lead and all its agents, in this process and before. */
  readonly spent: Spending;
  /** Budget of the whole tree. */
  readonly budget: Budget;
  /** Commands of a person for the agents below the lead. */
  readonly steer: Steering;
  /** Sentences about damage of the session and its agents, with file and line. Grows during a run. */
  readonly damage: readonly string[];
  readonly state: AgentState;
  /** True if no run is active or about to start, and the end of the last run has been emitted. */
  readonly isIdle: boolean;
  /** Number of working agents that no Task call waits for. Their reports start further runs. */
  readonly pendingReports: number;
  /** Calls the listener when `pendingReports` changes. Returns a function that removes the listener. */
  onPendingReports(listener: () => void): () => void;
  start(): void;
  /** Submits a prompt. Idempotent if `letter` is given. */
  submit(blocks: RawJson, letter?: string, settled?: PromptSettled): void;
  interrupt(): void;
  /** Summarises the older messages now. Resolves with a sentence. Rejects with UsageError. */
  compact(instructions: string): Promise<string>;
  /** Starts a new conversation within the session. Throws UsageError while a run is active. */
  clear(): void;
  /** Current permission mode. The agent is told about a change in its next message. */
  readonly mode: AgentMode;
  /** Throws UsageError if the mode may not be used here. */
  changeMode(mode: PermissionMode): void;
  listen(listener: FeedListener): () => void;
  /**
   * Submits a prompt and yields all feed items until that run has ended. Without a prompt, a
   * resumed agent continues its run. The first pull starts the run synchronously.
   */
  run(blocks?: RawJson): AsyncGenerator<FeedItem, void>;
  /** Changes the title in session lists. */
  rename(title: string): Promise<void>;
  /** Current prompt head. */
  readonly head: PromptHead;
  readonly stopped: Promise<AgentOutput>;
  close(reason?: EndReason): Promise<void>;
}
