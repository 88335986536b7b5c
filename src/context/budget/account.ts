/**
 * What one agent and all below it have used of one currency, and the pool that it comes from: its own, or
 * that of the nearest above it that has a limit. Before a request what it may cost is held, and
 * afterwards what it did cost takes its place.
 */
import type { Stop } from '../../protocol/agent/agent.js';
import type { Need } from '../../protocol/model/budget.js';
import type { Currency } from './currency.js';
import { Pool } from './pool.js';
import { isWaiting, Queue, type Verdict } from './reservation-queue.js';

/** Set aside for one request. */
export interface HeldReservation {
  readonly units: number;
  /** What the pool had left after it. */
  readonly left: number;
  /** What is held is not enough: others have used up more than they had set aside. */
  refusal(): Stop | null;
  settle(used: number): void;
}

/** Where what is used comes from: a pool, and those who wait for it. */
interface BudgetPool {
  readonly pool: Pool;
  readonly queue: Queue<HeldReservation | Stop>;
  /** Who has the limit. */
  readonly owner: Account;
}

export class Account {
  readonly currency: Currency;
  private readonly parent: Account | undefined;
  private readonly purse: BudgetPool | undefined;
  private total = 0;
  /** Of the total: what was used before. */
  private carried = 0;
  private isUnknown = false;

  /** `cap` is an amount; null draws on what is above. */
  constructor(currency: Currency, cap: number | null, parent: Account | undefined) {
    this.currency = currency;
    this.parent = parent;
    this.purse = cap === null ? parent?.purse : this.openPurse(cap, parent?.purse?.pool);
  }

  get isLimited(): boolean {
    return this.purse !== undefined;
  }

  /** An amount; null when nobody can tell. */
  get spent(): number | null {
    return this.isUnknown ? null : this.currency.amount(this.total);
  }

  get overshoot(): number {
    return this.currency.amount(this.pool?.overshoot ?? 0);
  }

  /** The nearest that it draws on. */
  get pool(): Pool | undefined {
    return this.purse?.pool;
  }

  /**
   * Waits while others that are in flight may still give some back; a Stop when it cannot be afforded at
   * all, or when `forbids` says so first. Only for one that is limited.
   */
  hold(
    need: Need,
    signal: AbortSignal,
    forbids: () => Stop | null,
    waits: () => void,
  ): Promise<HeldReservation | Stop> {
    const { purse } = this;
    if (purse === undefined) throw new Error('Without a limit there is nothing to hold.');
    return purse.queue.ask(() => this.judge(need, purse, forbids), signal, waits);
  }

  /** The run goes on that used so much: an amount. */
  carry(amount: number): void {
    this.charge(this.currency.units(amount));
  }

  /** What was carried counts no more. */
  renew(): void {
    this.charge(-this.carried);
  }

  /** Here and all the way up; undefined when nobody can tell. */
  count(units: number | undefined): void {
    this.total += units ?? 0;
    this.isUnknown ||= units === undefined;
    this.parent?.count(units);
  }

  /** What its own pool did not use goes back. */
  close(): void {
    if (this.purse?.owner === this) this.purse.pool.close();
  }

  private charge(units: number): void {
    this.carried += units;
    this.total += units;
    this.pool?.settle(0, units);
  }

  private openPurse(cap: number, from: Pool | undefined): BudgetPool {
    const units = this.currency.units(cap);
    const pool = from === undefined ? new Pool(units) : from.share(units);
    const queue = new Queue<HeldReservation | Stop>();
    pool.onChange = () => queue.look();
    return { pool, queue, owner: this };
  }

  /** What can be said now, or that it must wait for a request in flight. */
  private judge(
    need: Need,
    purse: BudgetPool,
    forbids: () => Stop | null,
  ): Verdict<HeldReservation | Stop> {
    const { pool } = purse;
    const likely = this.currency.likely(need);
    if (likely === undefined) return PRICELESS;
    const refusal = () => this.refusal(purse, likely.input);
    const stop = refusal() ?? forbids();
    if (stop !== null) return stop;
    if (likely.input >= pool.left) return isWaiting;
    return { ...held(pool, Math.min(likely.whole, pool.left)), refusal };
  }

  /** Whatever those in flight may give back: it cannot be afforded. */
  private refusal(purse: BudgetPool, input: number): Stop | null {
    const { pool, owner } = purse;
    if (owner.isUnknown) return PRICELESS;
    if (pool.isClosed) return OVER;
    return input >= pool.leftAtBest ? this.usedUp(purse, input) : null;
  }

  private usedUp({ pool, owner }: BudgetPool, input: number): Stop {
    const { inWords, limitInWords, advice } = this.currency;
    const isRoot = owner.parent === undefined;
    const cap = limitInWords(pool.cap);
    const what = isRoot ? `The budget of ${cap}` : `The agent's share of the budget, ${cap},`;
    const idle = pool.used + pool.promised - owner.total;
    const aside = idle > 0 ? ` and ${inWords(idle)} set aside for its agents` : '';
    const next = isRoot ? advice : 'what it did so far is kept';
    const detail = `${what} is used up: ${inWords(owner.total)} is spent${aside}, and the next request costs at least ${inWords(input)}; ${next}.`;
    return { reason: 'budget', detail };
  }
}

const held = (pool: Pool, units: number): Omit<HeldReservation, 'refusal'> => {
  pool.hold(units);
  return { units, left: pool.left, settle: (used) => pool.settle(units, used) };
};

const PRICELESS: Stop = {
  reason: 'budget',
  detail: 'The price of the model is unknown, so a budget cannot be kept: run it without one.',
};

export const OVER: Stop = {
  reason: 'budget',
  detail: 'The agent is over, and what was left of its budget has gone back: resume it to go on.',
};
