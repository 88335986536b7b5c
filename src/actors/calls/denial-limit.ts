/** Counts the denials of a run, to stop an agent that keeps requesting denied calls. */
import type { AgentLimits } from '../../protocol/agent/agent-limits.js';

export type DenialThresholds = Pick<AgentLimits, 'maxSameDenials' | 'maxDeniedTurns'>;

/**
 * Counts each turn once, because a model requests the calls of one message before it reads an
 * answer.
 */
export class DenialLimit {
  private readonly limits: DenialThresholds;
  private run = 0;
  private readonly turnsOf = new Map<string, Set<number>>();
  private readonly turns = new Set<number>();

  constructor(limits: DenialThresholds) {
    this.limits = limits;
  }

  /**
   * Counts a denial. Returns the reason to stop the agent, or undefined. `subject` is the call as
   * rule text.
   */
  count(subject: string, run: number, turn: number): string | undefined {
    if (run !== this.run) {
      this.run = run;
      this.turnsOf.clear();
      this.turns.clear();
    }
    const deniedTurns = this.turnsOf.get(subject) ?? new Set();
    this.turnsOf.set(subject, deniedTurns.add(turn));
    this.turns.add(turn);
    const { maxSameDenials, maxDeniedTurns } = this.limits;
    if (deniedTurns.size >= maxSameDenials) {
      return `${subject} was denied ${deniedTurns.size} times, and the agent kept asking for it.`;
    }
    if (this.turns.size >= maxDeniedTurns) {
      return `Calls were denied in ${this.turns.size} turns of this run.`;
    }
    return undefined;
  }
}
