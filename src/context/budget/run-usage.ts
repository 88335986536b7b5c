/**
 * What a run of a lead had used up when its process died, its agents included: folded from the index, so
 * that the limits of the run go on where they were (law 10).
 */

import { windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { CurrentRun } from '../history/current-run.js';
import { spendingOf } from './event-spending.js';
import { Spending } from './spending.js';

export interface Used {
  readonly usd: number;
  readonly tokens: number;
  readonly turns: number;
  /** Agents that were started. */
  readonly agents: number;
}

const NOTHING: Used = { usd: 0, tokens: 0, turns: 0, agents: 0 };

export class RunUsage {
  private readonly lead: string;
  private readonly run: Pick<CurrentRun, 'first' | 'isUnfinished'>;
  /** Of the last event that was taken. */
  seq = 0;
  private spent = new Spending();
  private turns = 0;
  private agents = new Set<unknown>();
  private readonly parents = new Map<string, string | null>();
  /** By each agent and all below it, in the run that it was last seen in. */
  private readonly below = new Map<string, Omit<Used, 'agents'>>();
  /** Whose next run is another one. */
  private readonly over = new Set<string>();

  constructor(lead: string, run: Pick<CurrentRun, 'first' | 'isUnfinished'>) {
    this.lead = lead;
    this.run = run;
  }

  /** Each event once, in their order: one that was taken before changes nothing. */
  take(event: SwarmEvent): void {
    const { type, agent, parent, seq } = event;
    if (seq <= this.seq) return;
    this.seq = seq;
    this.parents.set(agent, parent);
    const spent = spendingOf(event);
    if (spent !== undefined) {
      this.spent.count(spent);
      const tokens = windowTokens(spent.usage);
      this.countUp(agent, parent, { usd: spent.cost ?? 0, tokens, turns: 0 });
    }
    switch (type) {
      case 'run.started':
        if (agent === this.lead && Number(event.run) === this.run.first) this.forget();
        if (this.over.delete(agent)) this.below.delete(agent);
        break;
      case 'agent.stopped':
        this.over.add(agent);
        break;
      case 'turn.ended':
        this.turns += 1;
        this.countUp(agent, parent, { usd: 0, tokens: 0, turns: 1 });
        break;
      case 'agent.requested':
        this.agents.add(event.child);
        break;
      default:
        break;
    }
  }

  /** Of the run that a process died in; nothing when none did. */
  get used(): Used {
    return this.run.isUnfinished ? this.soFar : NOTHING;
  }

  /** Since a person last began a run, whether it goes on or not. */
  get soFar(): Used {
    // Without a price nobody could have kept a limit of money.
    const { cost, usage } = this.spent;
    const tokens = windowTokens(usage);
    return { usd: cost ?? 0, tokens, turns: this.turns, agents: this.agents.size };
  }

  /** The same of an agent below the lead, with all below that one, in its last run. */
  usedBy(agent: string): Omit<Used, 'agents'> {
    return this.below.get(agent) ?? NOTHING;
  }

  private forget(): void {
    this.spent = new Spending();
    this.turns = 0;
    this.agents = new Set();
  }

  private countUp(agent: string, parent: string | null, more: Omit<Used, 'agents'>): void {
    const seen = new Set<string>();
    let above = parent;
    // The lead has none above it. What files say of parents may go in circles.
    for (let one = agent; above !== null && !seen.has(one); ) {
      seen.add(one);
      const { usd, tokens, turns } = this.usedBy(one);
      this.below.set(one, {
        usd: usd + more.usd,
        tokens: tokens + more.tokens,
        turns: turns + more.turns,
      });
      one = above;
      above = this.parents.get(one) ?? null;
    }
  }
}
