/** Counts what was denied in a run, so that an agent that keeps asking for it can be stopped. */
import type { AgentLimits } from '../../protocol/agent/agent.js';

export type DenialLimits = Pick<AgentLimits, 'maxSameDenials' | 'maxDeniedTurns'>;

/** Each turn counts once: what a model asks for in one message, it asks before it has read an answer. */
export class Denials {
  private readonly limits: DenialLimits;
  private run = 0;
  private readonly turnsOf = new Map<string, Set<number>>();
  private readonly turns = new Set<number>();

  constructor(limits: DenialLimits) {
    this.limits = limits;
  }

  /** Why the agent must stop now, if so. `what` is the call in the words of a rule. */
  count(what: string, run: number, turn: number): string | undefined {
    if (run !== this.run) {
      this.run = run;
      this.turnsOf.clear();
      this.turns.clear();
    }
    const same = this.turnsOf.get(what) ?? new Set();
    this.turnsOf.set(what, same.add(turn));
    this.turns.add(turn);
    const { maxSameDenials, maxDeniedTurns } = this.limits;
    if (same.size >= maxSameDenials) {
      return `${what} was denied ${same.size} times, and the agent kept asking for it.`;
    }
    if (this.turns.size >= maxDeniedTurns) {
      return `Calls were denied in ${this.turns.size} turns of this run.`;
    }
    return undefined;
  }
}
