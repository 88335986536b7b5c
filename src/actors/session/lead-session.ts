/** What a session is opened with, and what its hosts can do with it then. */
import type { Spending } from '../../context/budget/spending.js';
import type { WindowMarks } from '../../context/window/window.js';
import type { RequestSettings } from '../../prompt/request/request-body.js';
import type { AgentReport, AgentState } from '../../protocol/agent/agent.js';
import type { Budget, Caps } from '../../protocol/model/budget.js';
import type { PromptHead } from '../../protocol/model/prompt.js';
import type { Capabilities } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { AgentMode, PermissionMode } from '../../protocol/permission/permission.js';
import type { FeedItem, FeedListener } from '../../protocol/session/feed.js';
import type { JournalBody } from '../../protocol/session/journal.js';
import type { Fence } from '../../protocol/session/mailbox.js';
import type { Session, SessionMeta } from '../../protocol/session/store.js';
import type { AgentDeps } from '../agent/agent.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { Checkpointer } from '../checkpoints/checkpointer.js';
import type { EndReason, HookEquipment } from '../hooks/session-hooks.js';
import type { SwarmSetup } from '../tree/swarm-context.js';
import type { BeginOptions } from './begin-session.js';
import type { Settled } from './prompt-gate.js';
import type { Steering } from './steering.js';

type Given =
  | 'notebook'
  | 'feed'
  | 'hooks'
  | 'shelf'
  | 'betas'
  | 'briefing'
  | 'diagnostics'
  | 'grant'
  | 'agent'
  | 'modelName'
  | 'ids'
  | 'clock'
  | 'jobs'
  | 'checkpoints';

/** What an agent's equipment depends on: where it works, and where large outputs are kept. */
export interface OpenedSession {
  readonly meta: SessionMeta;
  readonly artifacts: string;
  /** Those of the sessions that this one was forked from: its history names files there. */
  readonly inherited: readonly { readonly session: string; readonly folder: string }[];
  /** Where all processes of the session find it. Rejects with a StorageError. */
  readonly putArtifact: (name: string, bytes: Uint8Array) => Promise<void>;
  /** What the model is shown. */
  readonly tools: RawJson;
}

/** How a lead was started and which mode holds, for its workers. */
export interface LeadConfigPublisher {
  /** As they are now, to be kept as an artifact of that name: newer than all that were written before. */
  write(lead: Pick<Session, 'meta' | 'epoch'>): {
    readonly name: string;
    readonly bytes: Uint8Array;
  };
  /** Says, for whoever works on an agent that is handed over, which of them hold for it, or later ones. */
  handover(lead: Pick<Session, 'meta' | 'epoch'>, agent: string, at: number): string;
  /** Told when they have changed, until what it returns is called. */
  listen(listener: () => void): () => void;
}

export interface SessionOptions extends BeginOptions {
  /** What marks this process as the owner, for the journal. */
  readonly owner: string;
  readonly requestSettings: (model: string) => Omit<RequestSettings, 'model'>;
  /** What the provider takes; those of the public API if left out. */
  readonly capabilities?: Capabilities;
  /** Beta features that this process wants; the session keeps those that it ever had. */
  readonly betas?: readonly string[];
  readonly budget: Pick<Caps, 'usd' | 'tokens'>;
  readonly wantsStreamEvents: boolean;
  /** Left out when nobody has set up any. */
  readonly hooks?: HookEquipment | Hooks | undefined;
  readonly equip: (session: OpenedSession) => Omit<AgentDeps, Given>;
  /** Keeps files before calls change them; left out, nothing can be rewound. */
  readonly checkpoints?: (meta: SessionMeta, record: (body: JournalBody) => void) => Checkpointer;
  /** What workers of its swarm must know; undefined where it has none. */
  readonly terms?: LeadConfigPublisher | undefined;
  /** The agents that the lead may start. */
  readonly swarm: SwarmSetup;
}

export interface LeadSession {
  readonly id: string;
  readonly meta: SessionMeta;
  /** What lets this process speak for it; undefined where nobody else could. */
  readonly fence: Fence | undefined;
  readonly model: string;
  readonly notebook: JournaledState;
  /** Of the model that spoke last, with what a person has set. */
  readonly window: WindowMarks;
  /** By the lead and all its agents, in this process and before. */
  readonly spent: Spending;
  /** What there is to spend. */
  readonly grant: Budget;
  /** What a person can do with the agents that work for the lead. */
  readonly steer: Steering;
  /** Lines of the journal that could not be read. */
  readonly damage: readonly string[];
  readonly state: AgentState;
  /** No run is under way or about to begin, and the end of the last one has been told. */
  readonly isResting: boolean;
  start(): void;
  /** One that has a name has no effect when it comes again. */
  submit(blocks: RawJson, letter?: string, settled?: Settled): void;
  interrupt(): void;
  /** Summarises the older messages now; resolves with a sentence. Rejects with a UsageError. */
  compact(instructions: string): Promise<string>;
  /** Begins the conversation anew within the session. Throws a UsageError while a run is under way. */
  clear(): void;
  /** What needs no question; the agent is told with its next message. */
  readonly mode: AgentMode;
  /** Throws a UsageError for a mode that may not be used here. */
  changeMode(mode: PermissionMode): void;
  listen(listener: FeedListener): () => void;
  /**
   * Submits a prompt and yields everything until that run has ended. Without one a resumed agent
   * goes on with what it was doing. The first pull starts it, before it returns.
   */
  run(blocks?: RawJson): AsyncGenerator<FeedItem, void>;
  /** What lists call it. */
  rename(title: string): Promise<void>;
  /** What the model is shown ahead of the messages, as it is sent. */
  readonly head: PromptHead;
  readonly stopped: Promise<AgentReport>;
  close(reason?: EndReason): Promise<void>;
}
