/**
 * Run usage: amounts that a lead's run and its agents used before the process died, folded from the
 * index, so that the limits of the run still hold after a resume (law 10).
 */

import { ancestorsOf } from '../../lib/ancestors-of.js';
import { windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import type { CurrentRun } from '../history/current-run.js';
import { spendingOf } from './event-spending.js';
import { Spending } from './spending.js';

export interface Used {
  readonly usd: number;
  readonly tokens: number;
  readonly turns: number;
  /** Number of started agents. */
  readonly agents: number;
}

const NOTHING: Used = { usd: 0, tokens: 0, turns: 0, agents: 0 };

export class RunUsage {
  private readonly lead: string;
  private readonly run: Pick<CurrentRun, 'first' | 'isUnfinished'>;
  /** Number of the last event that was taken. */
  seq = 0;
  private spent = new Spending();
  private turns = 0;
  private agents = new Set<unknown>();
  private readonly parents = new Map<string, string | null>();
  /** Usage of each agent with its descendants, in its last run. */
  private readonly usedByAgent = new Map<string, Omit<Used, 'agents'>>();
  /** Stopped agents. Their next run starts with zero usage. */
  private readonly endedAgents = new Set<string>();

  constructor(lead: string, run: Pick<CurrentRun, 'first' | 'isUnfinished'>) {
    this.lead = lead;
    this.run = run;
  }

  /** Takes events in order. Idempotent for an event that was taken before. */
  take(event: SwarmEvent): void {
    const { type, agent, parent, seq } = event;
    if (seq <= this.seq) return;
    this.seq = seq;
    this.parents.set(agent, parent);
    const spent = spendingOf(event);
    if (spent !== undefined) {
      this.spent.count(spent);
      const tokens = windowTokens(spent.usage);
      this.countForAncestors(agent, parent, { usd: spent.cost ?? 0, tokens, turns: 0 });
    }
    switch (type) {
      case 'run.started':
        if (agent === this.lead && Number(event.run) === this.run.first) this.reset();
        if (this.endedAgents.delete(agent)) this.usedByAgent.delete(agent);
        break;
      case 'agent.stopped':
        this.endedAgents.add(agent);
        break;
      case 'turn.ended':
        this.turns += 1;
        this.countForAncestors(agent, parent, { usd: 0, tokens: 0, turns: 1 });
        break;
      case 'agent.requested':
        this.agents.add(event.child);
        break;
      default:
        break;
    }
  }

  /** Usage of the run in which a process died; zero if no process died in a run. */
  get used(): Used {
    return this.run.isUnfinished ? this.soFar : NOTHING;
  }

  /** Usage since a person last started a run, finished or not. */
  get soFar(): Used {
    // Without a price no money limit could have applied.
    const { cost, usage } = this.spent;
    const tokens = windowTokens(usage);
    return { usd: cost ?? 0, tokens, turns: this.turns, agents: this.agents.size };
  }

  /** Usage of an agent below the lead with its descendants, in its last run. */
  usedBy(agent: string): Omit<Used, 'agents'> {
    return this.usedByAgent.get(agent) ?? NOTHING;
  }

  private reset(): void {
    this.spent = new Spending();
    this.turns = 0;
    this.agents = new Set();
  }

  private countForAncestors(
    agent: string,
    parent: string | null,
    more: Omit<Used, 'agents'>,
  ): void {
    const parentOf = (id: string) => (id === agent ? parent : this.parents.get(id));
    for (const id of [agent, ...ancestorsOf(agent, parentOf)]) {
      // The lead is left out.
      if (parentOf(id) == null) continue;
      const { usd, tokens, turns } = this.usedBy(id);
      this.usedByAgent.set(id, {
        usd: usd + more.usd,
        tokens: tokens + more.tokens,
        turns: turns + more.turns,
      });
    }
  }
}
