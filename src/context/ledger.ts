/**
 * The ledger of a swarm (law 10): grants of money and turns, down the tree. Before a request what it
 * may cost is set aside, and afterwards what it did cost takes its place, so that a limit is passed by
 * one answer for each request in flight at the most. Every step costs the depth of the tree.
 */
import type { Stop } from '../protocol/agent.js';
import type { Caps, Grant, Need, Reservation } from '../protocol/grant.js';
import { costOf } from '../protocol/prices.js';
import type { TellWait } from '../protocol/queueing.js';
import { NO_USAGE } from '../protocol/usage.js';
import { Pool } from './pool.js';
import { isWaiting, Queue, type Verdict } from './reservation-queue.js';
import type { Used } from './run-usage.js';

/** Most answers are shorter; one that is longer is what a limit may be passed by. */
const EXPECTED_OUTPUT = 4_096;

/** Money is counted in whole billionths of a dollar, so that nothing is lost in sums. */
const NANOS = 1_000_000_000;
const nanos = (usd: number): number =>
  Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(usd * NANOS)));
const dollars = (units: number): number => units / NANOS;
const inWords = (units: number): string => `$${dollars(units).toFixed(4)}`;
const wholeTurns = (turns: number): number => Math.max(0, Math.floor(turns));

export interface RootGrant extends Grant {
  /** A new run: its turns begin anew, and of what was spent only that of this process counts. */
  renew(): void;
}

/** What was used up before there was this grant, in USD and in turns. */
export type UsedBefore = Pick<Used, 'usd' | 'turns'>;

export const rootGrant = (caps: Caps, before: UsedBefore = { usd: 0, turns: 0 }): RootGrant => {
  const root = new Ledger(caps, undefined);
  root.carry(before);
  return root;
};

/** Where the money of an agent comes from: a pool, and those who wait for it. */
interface Purse {
  readonly pool: Pool;
  readonly queue: Queue<Reservation | Stop>;
  /** Who has the limit. */
  readonly owner: Ledger;
}

export class Ledger implements RootGrant {
  private readonly parent: Ledger | undefined;
  private readonly caps: Caps;
  private readonly purse: Purse | undefined;
  /**
   * Its own and those above it, nearest first; one turn is one of each. Unlike money turns are not set
   * aside: whoever starts an agent that may take many would have none left to go on with.
   */
  private readonly turns: readonly Pool[];
  private total = 0;
  /** Of the total: what was spent before. */
  private carried = 0;
  private isPriceless = false;
  private isOver = false;

  constructor(caps: Caps, parent: Ledger | undefined) {
    this.caps = caps;
    this.parent = parent;
    this.purse = caps.usd === null ? parent?.purse : this.openPurse(caps.usd, parent?.purse?.pool);
    const above = parent?.turns ?? [];
    this.turns = caps.turns === null ? above : [new Pool(wholeTurns(caps.turns)), ...above];
  }

  get spent(): number | null {
    return this.isPriceless ? null : dollars(this.total);
  }

  get overshoot(): number {
    return dollars(this.purse?.pool.overshoot ?? 0);
  }

  /** Of the nearest pools that this agent draws on, in USD and in turns; null where there is no limit. */
  get books(): { readonly money: Books | null; readonly turns: Books | null } {
    return { money: booksOf(this.purse?.pool, NANOS), turns: booksOf(this.turns[0], 1) };
  }

  async reserve(need: Need, signal: AbortSignal, waits?: TellWait): Promise<Reservation | Stop> {
    signal.throwIfAborted();
    const { purse } = this;
    if (purse === undefined) return this.judgeTurn(need) ?? this.open(need, undefined, 0);
    return purse.queue.ask(
      () => this.judge(need, purse),
      signal,
      () => waits?.('budget'),
    );
  }

  share(caps: Caps): Grant {
    return new Ledger(caps, this);
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.caps.usd !== null) this.purse?.pool.close();
  }

  /** The run goes on that used so much. */
  carry({ usd, turns }: UsedBefore): void {
    this.charge(nanos(usd));
    this.turns[0]?.settle(0, turns);
  }

  renew(): void {
    this.charge(-this.carried);
    if (this.caps.turns !== null) this.turns[0]?.renew(wholeTurns(this.caps.turns));
  }

  private charge(units: number): void {
    this.carried += units;
    this.total += units;
    this.purse?.pool.settle(0, units);
  }

  private openPurse(usd: number, from: Pool | undefined): Purse {
    const pool = poolOf(nanos(usd), from);
    const queue = new Queue<Reservation | Stop>();
    pool.onChange = () => queue.look();
    return { pool, queue, owner: this };
  }

  /** What can be said now, or that it must wait for a request in flight. */
  private judge(need: Need, purse: Purse): Verdict<Reservation | Stop> {
    const { pool, owner } = purse;
    const likely = likelyCost(need);
    if (likely === undefined || owner.isPriceless) return PRICELESS;
    if (this.isOver) return OVER;
    if (likely.input >= pool.leftAtBest) return this.usedUp(purse, likely.input);
    const stop = this.judgeTurn(need);
    if (stop !== null) return stop;
    if (likely.input >= pool.left) return isWaiting;
    return this.open(need, pool, Math.min(likely.whole, pool.left));
  }

  private judgeTurn({ isTurn }: Need): Stop | null {
    if (this.isOver) return OVER;
    const spent = isTurn ? this.turns.findIndex(({ left }) => left < 1) : -1;
    if (spent === -1) return null;
    const isOfRun = spent === this.turns.length - 1 && this.root.caps.turns !== null;
    return { reason: 'max_turns', detail: isOfRun ? TURNS_USED : OWN_TURNS_USED };
  }

  private usedUp({ pool, owner }: Purse, input: number): Stop {
    const isRoot = owner.parent === undefined;
    const cap = `$${dollars(pool.cap)}`;
    const what = isRoot ? `The budget of ${cap}` : `The agent's share of the budget, ${cap},`;
    const idle = pool.used + pool.promised - owner.total;
    const aside = idle > 0 ? ` and ${inWords(idle)} set aside for its agents` : '';
    const advice = isRoot ? 'resume with a higher --max-budget-usd' : 'what it did so far is kept';
    const detail = `${what} is used up: ${inWords(owner.total)} is spent${aside}, and the next request costs at least ${inWords(input)}; ${advice}.`;
    return { reason: 'budget', detail };
  }

  private open({ isTurn }: Need, pool: Pool | undefined, units: number): Reservation {
    const turns = isTurn ? this.turns : [];
    pool?.hold(units);
    for (const pool of turns) pool.hold(1);
    let isOpen = true;
    const end = (used: number, turn: number) => {
      isOpen = false;
      // The turn first: whoever waits for the money may need it too.
      for (const pool of turns) pool.settle(1, turn);
      pool?.settle(units, used);
    };
    return {
      held: pool === undefined ? null : { usd: dollars(units), left: dollars(pool.left) },
      settle: ({ cost }) => {
        if (!isOpen) return;
        const isKnown = cost !== null && Number.isFinite(cost);
        const used = isKnown ? nanos(cost) : 0;
        this.count(used, !isKnown);
        end(used, 1);
      },
      cancel: () => {
        if (isOpen) end(0, 0);
      },
    };
  }

  /** Here and all the way up. */
  private count(units: number, isPriceless: boolean): void {
    this.total += units;
    this.isPriceless ||= isPriceless;
    this.parent?.count(units, isPriceless);
  }

  private get root(): Ledger {
    return this.parent?.root ?? this;
  }
}

/** What a pool holds: the first four always add up to the cap. */
export interface Books {
  readonly used: number;
  readonly reserved: number;
  /** Set aside for those below, or used by them. */
  readonly promised: number;
  readonly left: number;
  readonly cap: number;
}

const booksOf = (pool: Pool | undefined, unit: number): Books | null => {
  if (pool === undefined) return null;
  const { used, reserved, promised, left, cap } = pool;
  return {
    ...{ used: used / unit, reserved: reserved / unit, promised: promised / unit },
    ...{ left: left / unit, cap: cap / unit },
  };
};

const poolOf = (units: number, from: Pool | undefined): Pool =>
  from === undefined ? new Pool(units) : from.share(units);

/** In billionths: the prompt, what is known of it read from the cache, and then an answer. */
const likelyCost = (need: Need): { input: number; whole: number } | undefined => {
  const cacheRead = Math.max(0, Math.min(need.knownTokens, need.inputTokens));
  const prompt = {
    ...NO_USAGE,
    cacheRead,
    cacheWrite5m: Math.max(0, need.inputTokens - cacheRead),
  };
  const output = Math.max(0, Math.min(need.maxOutputTokens, EXPECTED_OUTPUT));
  const input = costOf(need.model, prompt);
  const whole = costOf(need.model, { ...prompt, output });
  if (input === undefined || whole === undefined) return undefined;
  return { input: nanos(input), whole: nanos(whole) };
};

const PRICELESS: Stop = {
  reason: 'budget',
  detail: 'The price of the model is unknown, so a budget cannot be kept: run it without one.',
};

const OVER: Stop = {
  reason: 'budget',
  detail: 'The agent is over, and what was left of its budget has gone back: resume it to go on.',
};

const TURNS_USED = 'The run and its agents used all their turns; resume it or raise --max-turns.';
const OWN_TURNS_USED =
  'The agent used all the turns that it was given; what it did so far is kept.';
