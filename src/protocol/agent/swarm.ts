/** Agents that work for another: how one is asked for, what it is called, and what it reports. */

import { SkeinError } from '../errors.js';
import type { Settlement, WorktreePlace } from '../tools/worktree.js';
import type { Stop } from './agent.js';
import type { MessageOrder, MessageReceipt } from './team-message.js';

/** `sync` and `fork` are waited for; a `background` one may be a fork too. A `teammate` stays when it has done its work. */
export const CHILD_KINDS = ['sync', 'background', 'fork', 'teammate'] as const;
export type ChildKind = (typeof CHILD_KINDS)[number];

/** A call of its parent waits for its end; the parents of others are told in a letter. */
export const isWaitedFor = (kind: ChildKind): boolean => kind === 'sync' || kind === 'fork';

/** An agent of the tree as everybody sees it. */
export interface AgentTag {
  readonly id: string;
  readonly parent: string;
  readonly kind: ChildKind;
  /** Its definition; null is a fork, which is what its parent is. */
  readonly type: string | null;
  /** A label that it can be called by. */
  readonly name?: string;
  /** Of a teammate. */
  readonly team?: string;
  /** What it is for, in a few words. */
  readonly description: string;
  /** The call of its parent that asked for it. */
  readonly call: string;
  /** 1 for the children of the lead. */
  readonly depth: number;
  readonly color?: string;
}

/** What decides about the price of an agent. */
export interface SpawnKind {
  /** Undefined: a fork. */
  readonly type: string | undefined;
  /** Undefined: that of its definition, else that of its parent. */
  readonly model: string | undefined;
}

/** What a Task call asks for. */
export interface SpawnOrder extends SpawnKind {
  readonly call: string;
  readonly description: string;
  readonly prompt: string;
  /** Undefined: what its definition says. */
  readonly background: boolean | undefined;
  readonly name: string | undefined;
  /** Makes it a teammate, which needs a name. */
  readonly team: string | undefined;
  /** Undefined: what its definition says. */
  readonly isolation: 'worktree' | undefined;
}

/** What came of an agent. */
export interface ChildReport {
  readonly agent: AgentTag;
  readonly stop: Stop;
  /** Its last words; of very many, the beginning and the end. */
  readonly text: string;
  /** How many characters they had, where some are left out. */
  readonly characters?: number;
  readonly turns: number;
  /** USD, with those of its own children; null when a price is not known. */
  readonly cost: number | null;
  readonly tokens: number;
  /** Absolute paths. */
  readonly changedFiles: readonly string[];
  /** Of one that had a worktree of its own. */
  readonly worktree?: WorktreeReport;
}

/** What became of the work of an agent in its worktree, and where it can be found. */
export interface WorktreeReport extends Pick<WorktreePlace, 'path' | 'branch' | 'top'> {
  readonly outcome: Settlement;
  /** Where it is as a patch. */
  readonly diff?: string;
}

/** How an agent ended, in the words that programs know. */
export type ChildOutcome = 'completed' | 'failed' | 'stopped';

export const outcomeOf = ({ reason }: Stop): ChildOutcome => {
  if (reason === 'end_turn') return 'completed';
  return reason === 'stopped' || reason === 'interrupted' ? 'stopped' : 'failed';
};

/** `queued` waits for a place, `idle` for a letter; `lost`: nobody runs it, and it has not ended. */
export type ChildStatus = 'queued' | 'running' | 'idle' | 'ended' | 'stopped' | 'lost';

export interface ChildView {
  readonly agent: AgentTag;
  readonly status: ChildStatus;
  /** The state of its machine while it runs. */
  readonly state: string;
  readonly turns: number;
  readonly cost: number | null;
  /** Of one that has ended. */
  readonly report?: ChildReport;
  /** In which whoever asks is told of that report, if it works for that one. */
  readonly letter?: string;
}

/** What tools may do with the agents of a swarm. */
export interface Agents {
  /**
   * Resolves with the report, or for a background agent as soon as it is on record. A call that was
   * under way when a process died finds its child again. Rejects with a SpawnRefusal, and with the
   * signal's reason when it aborts; then the child is interrupted.
   */
  spawn(order: SpawnOrder, signal: AbortSignal): Promise<Spawned>;
  /** By id, by name or by the beginning of an id: all that fit, of the whole tree below this agent. */
  find(address: string): readonly ChildView[];
  list(): readonly ChildView[];
  /**
   * Resolves when it has ended, after `timeoutMs`, or when the signal says so. Of one that ended before
   * this process the report is known then. Never rejects.
   */
  untilEnded(id: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Ends it and all below it; resolves when nothing of it works any more. */
  stop(id: string): Promise<void>;
  /**
   * Writes to one agent, or to all of the team: each gets it once, however often the same call sends it.
   * Rejects with a SpawnRefusal when nobody is meant, or several are.
   */
  send(order: MessageOrder): Promise<readonly MessageReceipt[]>;
  /** What so many agents of a kind would cost; undefined when the price of the model is not known. Throws a SpawnRefusal. */
  preview(count: number, kind: SpawnKind): SpawnPreview | undefined;
}

export type Spawned =
  | { readonly kind: 'ended'; readonly report: ChildReport }
  | { readonly kind: 'started'; readonly agent: AgentTag; readonly isQueued: boolean };

/** USD, from the least to the most that is likely. */
export interface SpawnPreview {
  readonly count: number;
  readonly model: string;
  readonly withCache: readonly [number, number];
  readonly withoutCache: readonly [number, number];
  /** How many agents that have ended it is judged by; left out or 0, it is a guess. */
  readonly observed?: number;
}

/** Of all that one message asks for; null where the price of a model is not known. */
export interface FanOutPreview extends Omit<SpawnPreview, 'withCache' | 'withoutCache'> {
  readonly withCache: readonly [number, number] | null;
  readonly withoutCache: readonly [number, number] | null;
}

/** Why no agent was started, in a sentence that may be shown to the model. */
export class SpawnRefusal extends SkeinError {
  readonly code = 'spawn-refusal';
}

/** Whom letters are from that say what became of a background agent. They wake. */
export const CHILD_SENDER = 'agent';
