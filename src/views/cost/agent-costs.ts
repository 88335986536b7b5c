/** What each agent of a session cost, folded from events. */
import type { EventSpending } from '../../context/budget/event-spending.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import { type CostLine, CostSum } from './cost-sum.js';

/** One agent, without those that work for it. */
export interface AgentCost extends CostLine {
  readonly agent: string;
  /** Null is the lead. */
  readonly parent: string | null;
  /** Its definition; null is the lead, or a fork. */
  readonly type: string | null;
  readonly name: string | null;
  readonly description: string;
  /** Answers that read much less from the cache than was there, and what that lost. */
  readonly cacheMisses: number;
  readonly accidents: number;
  readonly lostTokens: number;
}

export class AgentCosts {
  private readonly agents = new Map<string, Account>();

  spend(event: SwarmEvent, spent: EventSpending): void {
    this.accountOf(event).sum.add(spent);
  }

  spawn(event: SwarmEvent): void {
    const account = this.accountOf(event);
    const { origin } = event as { readonly origin?: Readonly<Record<string, unknown>> };
    account.type = textIn(origin?.type);
    account.name = textIn(origin?.name);
    account.description = textIn(origin?.description) ?? '';
  }

  miss(event: SwarmEvent): void {
    const account = this.accountOf(event);
    account.misses += 1;
    if (event.expected !== true) account.accidents += 1;
    const { cachedTokens, readTokens } = event;
    account.lost += Math.max(0, numberIn(cachedTokens) - numberIn(readTokens));
  }

  clear(): void {
    this.agents.clear();
  }

  /** The dearest first. Those that never asked a model are left out. */
  report(): readonly AgentCost[] {
    return [...this.agents]
      .map(([agent, { sum, parent, type, name, description, misses, accidents, lost }]) => ({
        agent,
        parent,
        type,
        name,
        description,
        ...sum.line(),
        cacheMisses: misses,
        accidents,
        lostTokens: lost,
      }))
      .filter(({ requests }) => requests > 0)
      .sort((one, other) => other.knownCostUsd - one.knownCostUsd);
  }

  private accountOf({ agent, parent }: SwarmEvent): Account {
    const known = this.agents.get(agent) ?? new Account(parent);
    this.agents.set(agent, known);
    return known;
  }
}

class Account {
  readonly sum = new CostSum();
  readonly parent: string | null;
  type: string | null = null;
  name: string | null = null;
  description = '';
  misses = 0;
  accidents = 0;
  lost = 0;

  constructor(parent: string | null) {
    this.parent = parent;
  }
}

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const numberIn = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;
