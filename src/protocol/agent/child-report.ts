/** Result of a sub-agent, as its parent reads it. */
import type { Settlement, WorktreeLocation } from '../tools/worktrees.js';
import type { AgentTag } from './agent-tag.js';
import type { Stop } from './stop.js';

export interface ChildReport {
  readonly agent: AgentTag;
  readonly stop: Stop;
  /** Text of the agent's last message. Of a very long message, the beginning and the end. */
  readonly text: string;
  /** Length of the whole message in characters. Only if `text` is shortened. */
  readonly characters?: number;
  readonly turns: number;
  /** USD, including the agent's descendants. Null if a price is unknown. */
  readonly cost: number | null;
  readonly tokens: number;
  /** Absolute paths. */
  readonly changedFiles: readonly string[];
  /** Number of records that the store has lost. Only if a loss is known. */
  readonly lostRecords?: number;
  /** Only if the agent had a worktree. */
  readonly worktree?: WorktreeReport;
}

/** Outcome of an agent's work in its worktree, and its location. */
export interface WorktreeReport extends Pick<WorktreeLocation, 'path' | 'branch' | 'top'> {
  readonly outcome: Settlement;
  /** Path of the work as a patch. */
  readonly diff?: string;
}

/** How an agent ended, in the words of the public API. */
export type ChildOutcome = 'completed' | 'failed' | 'stopped';

export const outcomeOf = ({ reason }: Stop): ChildOutcome => {
  if (reason === 'end_turn') return 'completed';
  return reason === 'stopped' || reason === 'interrupted' ? 'stopped' : 'failed';
};

/** Sender of letters that report the end of a background agent. These letters wake the parent. */
export const CHILD_SENDER = 'agent';
