/**
 * Account of an agent and its descendants in one currency. It draws on its own pool, or on the pool
 * of the nearest ancestor with a limit. The expected cost of a request is reserved before it is
 * sent; the actual cost replaces it afterwards.
 */
import type { Stop } from '../../protocol/agent/stop.js';
import type { RequestEstimate } from '../../protocol/model/budget.js';
import type { Currency } from './currency.js';
import { Pool } from './pool.js';
import { type QueueAnswer, ReservationQueue, WAITING } from './reservation-queue.js';

/** Amount reserved for a request. */
export interface AccountReservation {
  readonly units: number;
  /** Units left in the pool after this reservation. */
  readonly left: number;
  /** Returns a Stop if the budget no longer covers the request, because others overspent. */
  refusal(): Stop | null;
  settle(used: number): void;
}

/** A pool with the queue of requests that wait for it. */
interface BudgetPool {
  readonly pool: Pool;
  readonly queue: ReservationQueue<AccountReservation | Stop>;
  /** Account that has the limit. */
  readonly owner: Account;
}

export class Account {
  readonly currency: Currency;
  private readonly parent: Account | undefined;
  private readonly budget: BudgetPool | undefined;
  private total = 0;
  /** Part of the total that an earlier process used. */
  private carried = 0;
  private isUnknown = false;

  /** `cap` is an amount; null draws on the parent's pool. */
  constructor(currency: Currency, cap: number | null, parent: Account | undefined) {
    this.currency = currency;
    this.parent = parent;
    this.budget = cap === null ? parent?.budget : this.openPool(cap, parent?.budget?.pool);
  }

  get isLimited(): boolean {
    return this.budget !== undefined;
  }

  /** Amount spent; null if a price is unknown. */
  get spent(): number | null {
    return this.isUnknown ? null : this.currency.amount(this.total);
  }

  get overshoot(): number {
    return this.currency.amount(this.pool?.overshoot ?? 0);
  }

  /** Nearest pool that the account draws on. */
  get pool(): Pool | undefined {
    return this.budget?.pool;
  }

  /**
   * Reserves the expected cost of a request. Waits while requests in flight may still return units.
   * Resolves with a Stop if the pool can never cover the cost or `forbids` returns one. Throws if
   * the account has no limit.
   */
  reserve(
    need: RequestEstimate,
    signal: AbortSignal,
    forbids: () => Stop | null,
    waits: () => void,
  ): Promise<AccountReservation | Stop> {
    const { budget } = this;
    if (budget === undefined)
      throw new Error('An account without a limit cannot reserve an amount.');
    return budget.queue.enqueue(() => this.judge(need, budget, forbids), signal, waits);
  }

  /** Charges an amount that an earlier process used for the same run. */
  carry(amount: number): void {
    this.charge(this.currency.units(amount));
  }

  /** Takes back the carried amount. */
  renew(): void {
    this.charge(-this.carried);
  }

  /** Counts spent units here and in all ancestors; undefined if the price is unknown. */
  count(units: number | undefined): void {
    this.total += units ?? 0;
    this.isUnknown ||= units === undefined;
    this.parent?.count(units);
  }

  /** Returns the unused units of the account's own pool. */
  close(): void {
    if (this.budget?.owner === this) this.budget.pool.close();
  }

  private charge(units: number): void {
    this.carried += units;
    this.total += units;
    this.pool?.settle(0, units);
  }

  private openPool(cap: number, from: Pool | undefined): BudgetPool {
    const units = this.currency.units(cap);
    const pool = from === undefined ? new Pool(units) : from.share(units);
    const queue = new ReservationQueue<AccountReservation | Stop>();
    pool.onChange = () => queue.recheck();
    return { pool, queue, owner: this };
  }

  /** Returns the reservation or a Stop, or `WAITING` while a request in flight may return units. */
  private judge(
    need: RequestEstimate,
    budget: BudgetPool,
    forbids: () => Stop | null,
  ): QueueAnswer<AccountReservation | Stop> {
    const { pool } = budget;
    const likely = this.currency.likely(need);
    if (likely === undefined) return PRICE_UNKNOWN;
    const refusal = () => this.refusal(budget, likely.input);
    const stop = refusal() ?? forbids();
    if (stop !== null) return stop;
    if (likely.input >= pool.left) return WAITING;
    return { ...reserveUnits(pool, Math.min(likely.whole, pool.left)), refusal };
  }

  /** Returns a Stop if the request cannot be paid even if all requests in flight cost nothing. */
  private refusal(budget: BudgetPool, input: number): Stop | null {
    const { pool, owner } = budget;
    if (owner.isUnknown) return PRICE_UNKNOWN;
    if (pool.isClosed) return BUDGET_CLOSED;
    return input >= pool.leftAtBest ? this.usedUp(budget, input) : null;
  }

  private usedUp({ pool, owner }: BudgetPool, input: number): Stop {
    const { inWords, limitInWords, advice } = this.currency;
    const isRoot = owner.parent === undefined;
    const cap = limitInWords(pool.cap);
    const subject = isRoot ? `The budget of ${cap}` : `The agent's share of the budget, ${cap},`;
    const idle = pool.used + pool.allocated - owner.total;
    const allocated = idle > 0 ? ` and ${inWords(idle)} set aside for its agents` : '';
    const next = isRoot ? advice : 'its work so far is kept';
    const detail = `${subject} is used up: ${inWords(owner.total)} is spent${allocated}, and the next request costs at least ${inWords(input)}; ${next}.`;
    return { reason: 'budget', detail };
  }
}

const reserveUnits = (pool: Pool, units: number): Omit<AccountReservation, 'refusal'> => {
  pool.reserve(units);
  return { units, left: pool.left, settle: (used) => pool.settle(units, used) };
};

const PRICE_UNKNOWN: Stop = {
  reason: 'budget',
  detail: 'The price of the model is unknown, so a budget cannot be kept: run it without a budget.',
};

export const BUDGET_CLOSED: Stop = {
  reason: 'budget',
  detail: 'The agent has ended, and the rest of its budget was returned: resume it to continue.',
};
