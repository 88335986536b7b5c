/** What a session cost, folded from its events: per model and in all, with what the cache saved. */
import type { SwarmEvent } from '../protocol/events.js';
import { PRICES_VERSION, uncachedCostOf } from '../protocol/prices.js';
import type { SessionStore } from '../protocol/store.js';
import { addUsage, NO_USAGE, type Usage, windowTokens } from '../protocol/usage.js';
import { CacheLedger, type CacheReport } from './cache-ledger.js';

export interface CostLine {
  /** All that were answered, failed or made beside the conversation. */
  readonly requests: number;
  readonly failedAttempts: number;
  readonly consultations: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Done by the provider, and paid for by the piece. */
  readonly webSearches: number;
  /** USD; null when the price of a request is not known. */
  readonly costUsd: number | null;
  /** The sum of what has a price. */
  readonly knownCostUsd: number;
  readonly uncachedCostUsd: number | null;
  /** Of the uncached cost; negative when writing to the cache cost more than reading saved. */
  readonly savedPercent: number | null;
}

export interface CostReport {
  readonly pricesVersion: string;
  readonly models: readonly (CostLine & { readonly model: string })[];
  readonly total: CostLine;
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

interface Spending {
  readonly type: string;
  readonly model: string;
  readonly usage: Usage;
  readonly cost: number | null;
}

export class CostLedger {
  private readonly models = new Map<string, Sum>();
  private readonly purposes = new Map<string, Sum>();
  private total = new Sum();
  private failed = new Sum();
  private cache = new CacheLedger();
  private inherited: { session: string; sum: Sum } | null = null;
  private readonly open = new Set<string>();

  take(event: SwarmEvent): void {
    if (event.type === 'agent.spawned') this.noteFork(event);
    // A fork copies under its first epoch; what it does itself comes under later ones.
    if (event.type === 'epoch.began' && Number(event.epoch) > 1) this.settleFork();
    if (event.type === 'turn.started') this.open.add(attemptOf(event));
    if (event.type === 'turn.ended' || event.type === 'turn.failed') {
      this.open.delete(attemptOf(event));
    }
    if (event.type === 'cache.broken') this.cache.miss(event);
    const spent = spendingOf(event);
    if (spent === undefined) return;
    this.total.add(spent);
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
    this.total = new Sum();
    this.failed = new Sum();
    this.cache = new CacheLedger();
    this.models.clear();
    this.purposes.clear();
    this.open.clear();
  }
}

class Sum {
  requests = 0;
  cost: number | null = 0;
  private failed = 0;
  private consulted = 0;
  private known = 0;
  private uncached: number | null = 0;
  private usage = NO_USAGE;

  add({ type, model, usage, cost }: Spending): void {
    this.requests += 1;
    if (type === 'turn.failed') this.failed += 1;
    if (type === 'consultation.ended') this.consulted += 1;
    this.usage = addUsage(this.usage, usage);
    // An attempt that came to nothing cost nothing, whatever the model would have charged.
    const isNothing = windowTokens(usage) === 0 && (usage.webSearches ?? 0) === 0;
    const paid = isNothing ? 0 : cost;
    const uncached = paid === 0 ? 0 : (uncachedCostOf(model, usage) ?? null);
    this.cost = plus(this.cost, paid);
    this.uncached = plus(this.uncached, uncached);
    this.known += paid ?? 0;
  }

  line(): CostLine {
    const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = this.usage;
    const isPriced = this.cost !== null && this.uncached !== null && this.uncached > 0;
    return {
      requests: this.requests,
      failedAttempts: this.failed,
      consultations: this.consulted,
      inputTokens: input,
      outputTokens: output,
      cacheReadTokens: cacheRead,
      cacheWriteTokens: cacheWrite5m + cacheWrite1h,
      webSearches: this.usage.webSearches ?? 0,
      costUsd: this.cost,
      knownCostUsd: this.known,
      uncachedCostUsd: this.uncached,
      savedPercent: isPriced ? saved(this.cost ?? 0, this.uncached ?? 0) : null,
    };
  }
}

const saved = (cost: number, uncached: number): number =>
  Math.round((1 - cost / uncached) * 1_000) / 10;

const plus = (sum: number | null, more: number | null): number | null =>
  sum === null || more === null ? null : sum + more;

const sumIn = (sums: Map<string, Sum>, key: string): Sum => {
  const sum = sums.get(key) ?? new Sum();
  sums.set(key, sum);
  return sum;
};

const attemptOf = ({ agent, turn, attempt }: SwarmEvent): string =>
  JSON.stringify([agent, turn, attempt]);

/** Whatever names a model and a usage was paid for. */
export const spendingOf = ({ type, model, usage, cost }: SwarmEvent): Spending | undefined => {
  if (typeof model !== 'string' || typeof usage !== 'object' || usage === null) return undefined;
  const given = usage as Readonly<Record<string, unknown>>;
  const paid = typeof cost === 'number' && Number.isFinite(cost) ? cost : null;
  return { type, model, usage: tokensOf(given), cost: paid };
};

/** The index is a file that anybody may have written to. */
const tokensOf = (given: Readonly<Record<string, unknown>>): Usage => {
  const tokens = (key: keyof Usage) => {
    const value = given[key];
    return typeof value === 'number' && Number.isFinite(value) ? value : 0;
  };
  return {
    input: tokens('input'),
    output: tokens('output'),
    cacheRead: tokens('cacheRead'),
    cacheWrite5m: tokens('cacheWrite5m'),
    cacheWrite1h: tokens('cacheWrite1h'),
    webSearches: tokens('webSearches'),
  };
};
