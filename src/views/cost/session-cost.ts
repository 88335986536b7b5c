/** Cost of a session: per model, per agent and in total, with the savings of the cache. */
import { spendingOf } from '../../context/budget/event-spending.js';
import { PRICES_VERSION } from '../../protocol/model/model-facts.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { type AgentCost, AgentCosts } from './agent-costs.js';
import { type CacheReport, CacheReportFold } from './cache-report.js';
import { type CostLine, CostSum } from './cost-sum.js';

export interface CostReport {
  readonly pricesVersion: string;
  readonly models: readonly (CostLine & { readonly model: string })[];
  readonly total: CostLine;
  /** Most expensive first. */
  readonly agents: readonly AgentCost[];
  readonly cache: CacheReport;
  readonly failedAttempts: { readonly count: number; readonly costUsd: number | null };
  readonly consultations: readonly {
    readonly purpose: string;
    readonly count: number;
    readonly costUsd: number | null;
  }[];
  /** Requests without an end: in flight, or lost with their process. */
  readonly openRequests: number;
  /** Cost of the copied prefix of a forked session, which the other session paid. Null if not forked. */
  readonly inherited: {
    readonly session: string;
    readonly requests: number;
    readonly costUsd: number | null;
  } | null;
}

export const sessionCost = async (
  store: Pick<SessionStore, 'events'>,
  id: string,
): Promise<CostReport> => {
  const fold = new SessionCostFold();
  for await (const event of store.events(id)) fold.take(event);
  return fold.report();
};

export class SessionCostFold {
  private readonly models = new Map<string, CostSum>();
  private readonly agents = new AgentCosts();
  private readonly purposes = new Map<string, CostSum>();
  private total = new CostSum();
  private failed = new CostSum();
  private cache = new CacheReportFold();
  private inherited: { session: string; sum: CostSum } | null = null;
  private readonly open = new Set<string>();

  take(event: SwarmEvent): void {
    if (event.type === 'agent.spawned') {
      this.noteFork(event);
      this.agents.spawn(event);
    }
    // A fork writes the copy under its first epoch, and its own records under later epochs.
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
    this.cache = new CacheReportFold();
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
