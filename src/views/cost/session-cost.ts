/** What a session cost, folded from its events: per model, per agent and in all, with what the cache saved. */
import { spendingOf } from '../../context/budget/event-spending.js';
import { PRICES_VERSION } from '../../protocol/model/prices.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { type AgentCost, AgentCosts } from './agent-costs.js';
import { CacheLedger, type CacheReport } from './cache-report.js';
import { type CostLine, CostSum } from './cost-sum.js';

export interface CostReport {
  readonly pricesVersion: string;
  readonly models: readonly (CostLine & { readonly model: string })[];
  readonly total: CostLine;
  /** The dearest first. */
  readonly agents: readonly AgentCost[];
  readonly cache: CacheReport;
  readonly failedAttempts: { readonly count: number; readonly costUsd: number | null };
  readonly consultations: readonly {
    readonly purpose: string;
    readonly count: number;
    readonly costUsd: number | null;
  }[];
  /** Sent, and neither answered nor failed: still under way, or cut off with their process. */
  readonly openRequests: number;
  /** A fork begins with the records of another session, which paid for them. */
  readonly inherited: {
    readonly session: string;
    readonly requests: number;
    readonly costUsd: number | null;
  } | null;
}

/** Of a session that somebody may be running. */
export const costOfSession = async (
  store: Pick<SessionStore, 'events'>,
  id: string,
): Promise<CostReport> => {
  const ledger = new CostLedger();
  for await (const event of store.events(id)) ledger.take(event);
  return ledger.report();
};

export class CostLedger {
  private readonly models = new Map<string, CostSum>();
  private readonly agents = new AgentCosts();
  private readonly purposes = new Map<string, CostSum>();
  private total = new CostSum();
  private failed = new CostSum();
  private cache = new CacheLedger();
  private inherited: { session: string; sum: CostSum } | null = null;
  private readonly open = new Set<string>();

  take(event: SwarmEvent): void {
    if (event.type === 'agent.spawned') {
      this.noteFork(event);
      this.agents.spawn(event);
    }
    // A fork copies under its first epoch; what it does itself comes under later ones.
    if (event.type === 'epoch.began' && Number(event.epoch) > 1) this.settleFork();
    if (event.type === 'turn.started') this.open.add(attemptOf(event));
    if (event.type === 'turn.ended' || event.type === 'turn.failed') {
      this.open.delete(attemptOf(event));
    }
    if (event.type === 'cache.broken') {
      this.cache.miss(event);
      this.agents.miss(event);
    }
    const spent = spendingOf(event);
    if (spent === undefined) return;
    this.total.add(spent);
    this.agents.spend(event, spent);
    this.cache.spend(event, spent.model, spent.usage);
    sumIn(this.models, spent.model).add(spent);
    if (spent.type === 'turn.failed') this.failed.add(spent);
    if (spent.type === 'consultation.ended') {
      sumIn(this.purposes, String(event.purpose)).add(spent);
    }
  }

  report(): CostReport {
    return {
      pricesVersion: PRICES_VERSION,
      models: [...this.models].map(([model, sum]) => ({ model, ...sum.line() })),
      total: this.total.line(),
      agents: this.agents.report(),
      cache: this.cache.report(),
      failedAttempts: { count: this.failed.requests, costUsd: this.failed.cost },
      consultations: [...this.purposes].map(([purpose, { requests, cost }]) => {
        return { purpose, count: requests, costUsd: cost };
      }),
      openRequests: this.open.size,
      inherited: this.inherited && {
        session: this.inherited.session,
        requests: this.inherited.sum.requests,
        costUsd: this.inherited.sum.cost,
      },
    };
  }

  private noteFork({ forkedFrom }: SwarmEvent): void {
    const source = forkedFrom as { readonly session?: unknown } | undefined;
    if (typeof source?.session !== 'string' || this.inherited !== null) return;
    this.inherited = { session: source.session, sum: this.total };
  }

  private settleFork(): void {
    if (this.inherited === null || this.inherited.sum !== this.total) return;
    this.total = new CostSum();
    this.failed = new CostSum();
    this.cache = new CacheLedger();
    this.models.clear();
    this.agents.clear();
    this.purposes.clear();
    this.open.clear();
  }
}

const sumIn = (sums: Map<string, CostSum>, key: string): CostSum => {
  const sum = sums.get(key) ?? new CostSum();
  sums.set(key, sum);
  return sum;
};

const attemptOf = ({ agent, turn, attempt }: SwarmEvent): string =>
  JSON.stringify([agent, turn, attempt]);
