/** Port behind the agent tools: spawns, finds, stops and messages the agents below one agent. */
import { SkeinError } from '../skein-error.js';
import type { AgentTag } from './agent-tag.js';
import type { ChildReport } from './child-report.js';
import type { MessageReceipt, MessageRequest } from './team-message.js';

/** Facts that decide the price of an agent. */
export interface SpawnKind {
  /** Name of an agent definition. Undefined: a fork. */
  readonly type: string | undefined;
  /** Default: the model of the definition, else the model of the parent. */
  readonly model: string | undefined;
}

/** Arguments of a Task call. */
export interface SpawnRequest extends SpawnKind {
  readonly call: string;
  readonly description: string;
  readonly prompt: string;
  /** Default: the setting of the definition. */
  readonly background: boolean | undefined;
  readonly name: string | undefined;
  /** Makes the agent a teammate, which needs a name. */
  readonly team: string | undefined;
  /** Default: the setting of the definition. */
  readonly isolation: 'worktree' | undefined;
}

/**
 * `queued` waits for a concurrency slot, `idle` waits for a letter. `lost` has not ended, and no process
 * runs it.
 */
export type ChildStatus = 'queued' | 'running' | 'idle' | 'ended' | 'stopped' | 'lost';

export interface ChildView {
  readonly agent: AgentTag;
  readonly status: ChildStatus;
  /** State of the agent's machine while the agent runs. */
  readonly state: string;
  readonly turns: number;
  readonly cost: number | null;
  /** Only if the agent has ended. */
  readonly report?: ChildReport;
  /** Id of the letter with the report. Only if the caller is the agent's parent. */
  readonly letter?: string;
}

export interface Agents {
  /**
   * Resolves with the report, or for a background agent as soon as its first record is journaled. A
   * call that is repeated after a crash rejoins the child that it had spawned. Rejects with
   * AgentRefusal. If the signal aborts, interrupts the child and rejects with the signal's reason.
   */
  spawn(request: SpawnRequest, signal: AbortSignal): Promise<Spawned>;
  /** Returns all descendants of the caller whose id, name or beginning of the id equals `address`. */
  find(address: string): readonly ChildView[];
  list(): readonly ChildView[];
  /**
   * Resolves when the agent has ended, after `timeoutMs`, or when the signal aborts. If the agent ended
   * in an earlier process, its report is loaded before this resolves. Never rejects.
   */
  untilEnded(id: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Stops the agent and its descendants. Resolves when all of them have stopped. */
  stop(id: string): Promise<void>;
  /**
   * Sends a message to one agent or to the whole team. Idempotent per call: each recipient gets the
   * message once. Rejects with AgentRefusal if the address matches no agent or several agents.
   */
  send(request: MessageRequest): Promise<readonly MessageReceipt[]>;
  /** Returns undefined if the price of the model is unknown. Throws AgentRefusal. */
  preview(count: number, kind: SpawnKind): SpawnPreview | undefined;
}

export type Spawned =
  | { readonly kind: 'ended'; readonly report: ChildReport }
  | { readonly kind: 'started'; readonly agent: AgentTag; readonly isQueued: boolean };

/** Estimated cost of `count` agents in USD, each as a likely minimum and maximum. */
export interface SpawnPreview {
  readonly count: number;
  readonly model: string;
  readonly withCache: readonly [number, number];
  readonly withoutCache: readonly [number, number];
  /** Number of ended agents that the estimate is based on. Default: 0, a guess. */
  readonly observed?: number;
}

/** Estimated cost of all agents that one message spawns. Null if a price is unknown. */
export interface FanOutPreview extends Omit<SpawnPreview, 'withCache' | 'withoutCache'> {
  readonly withCache: readonly [number, number] | null;
  readonly withoutCache: readonly [number, number] | null;
}

/** Why an agent was not started, or a message between agents not sent. May be shown to the model. */
export class AgentRefusal extends SkeinError {
  readonly code = 'spawn-refusal';
}
