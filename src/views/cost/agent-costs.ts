/** Folds the cost of each agent of a session. */
import type { EventSpending } from '../../context/budget/event-spending.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { type CostLine, CostSum } from './cost-sum.js';

/** Cost of one agent without its descendants. */
export interface AgentCost extends CostLine {
  readonly agent: string;
  /** Null for the lead. */
  readonly parent: string | null;
  /** Name of the agent's definition. Null for the lead and for forks. */
  readonly type: string | null;
  readonly name: string | null;
  readonly description: string;
  /** Number of cache misses. `accidents` of them were not expected. `lostTokens` were not read again. */
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

  /** Returns the most expensive agents first, without agents that sent no request. */
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
      .sort((a, b) => b.knownCostUsd - a.knownCostUsd);
  }

  private accountOf({ agent, parent }: SwarmEvent): Account {
    const account = this.agents.get(agent) ?? new Account(parent);
    this.agents.set(agent, account);
    return account;
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
