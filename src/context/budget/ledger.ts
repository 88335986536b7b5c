/**
 * Ledger of a swarm (law 10): budgets of money, tokens and turns along the agent tree. The expected
 * cost of a request is reserved before it is sent and replaced by the actual cost afterwards, so
 * that each request in flight exceeds a limit by one answer at most. Every operation takes time
 * proportional to the depth.
 */
import type { Stop } from '../../protocol/agent/stop.js';
import type {
  Budget,
  Caps,
  Overshoot,
  RequestEstimate,
  Reservation,
  ReservedAmount,
} from '../../protocol/model/budget.js';
import type { OnWait } from '../../protocol/model/governor.js';
import { Account, type AccountReservation, BUDGET_CLOSED } from './account.js';
import { MONEY, TOKENS } from './currency.js';
import { Pool } from './pool.js';
import type { Used } from './run-usage.js';

const wholeTurns = (turns: number): number => Math.max(0, Math.floor(turns));

interface RootBudget extends Budget {
  /** Starts a new run: resets its turns and drops the amounts that earlier processes spent. */
  renew(): void;
  /** Adds amounts that another process used for the same run. */
  carry(used: UsedBefore): void;
}

/** Amounts used before this budget existed. */
export type UsedBefore = Omit<Used, 'agents'>;

export const NOTHING_USED: UsedBefore = { usd: 0, tokens: 0, turns: 0 };

export const rootBudget = (caps: Caps, before: UsedBefore = NOTHING_USED): RootBudget => {
  const root = new Ledger(caps, undefined);
  root.carry(before);
  return root;
};

export class Ledger implements RootBudget {
  private readonly parent: Ledger | undefined;
  private readonly caps: Caps;
  private readonly money: Account;
  private readonly tokens: Account;
  /**
   * Turn pools of this agent and its ancestors, nearest first. A turn takes one unit of each. Turns
   * of a child are not allocated, because a parent that starts an agent with many turns would have
   * none left.
   */
  private readonly turns: readonly Pool[];
  private isClosed = false;

  constructor(caps: Caps, parent: Ledger | undefined) {
    this.caps = caps;
    this.parent = parent;
    this.money = new Account(MONEY, caps.usd, parent?.money);
    this.tokens = new Account(TOKENS, caps.tokens, parent?.tokens);
    const above = parent?.turns ?? [];
    this.turns = caps.turns === null ? above : [new Pool(wholeTurns(caps.turns)), ...above];
  }

  get spent(): number | null {
    return this.money.spent;
  }

  get overshoot(): Overshoot {
    return { usd: this.money.overshoot, tokens: this.tokens.overshoot };
  }

  /** Balances of the nearest pools that this agent draws on; null without a limit. */
  get balances(): Readonly<Record<'money' | 'tokens' | 'turns', PoolBalance | null>> {
    return {
      money: poolBalance(this.money.pool, MONEY.amount),
      tokens: poolBalance(this.tokens.pool, TOKENS.amount),
      turns: poolBalance(this.turns[0], (turns) => turns),
    };
  }

  async reserve(
    need: RequestEstimate,
    signal: AbortSignal,
    waits?: OnWait,
  ): Promise<Reservation | Stop> {
    signal.throwIfAborted();
    const reservations: AccountReservations = { money: undefined, tokens: undefined };
    // The order is fixed, so that two requests cannot wait for each other.
    for (const name of ['money', 'tokens'] as const) {
      if (!this[name].isLimited) continue;
      const answer = await this.reserveFrom(name, need, signal, waits).catch((error: unknown) => {
        release(reservations);
        throw error;
      });
      if ('reason' in answer) {
        release(reservations);
        return answer;
      }
      reservations[name] = answer;
    }
    const stop = this.judgeTurn(need);
    if (stop !== null) release(reservations);
    return stop ?? this.open(need, reservations);
  }

  share(caps: Caps): Budget {
    return new Ledger(caps, this);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.money.close();
    this.tokens.close();
  }

  carry({ usd, tokens, turns }: UsedBefore): void {
    this.money.carry(usd);
    this.tokens.carry(tokens);
    this.turns[0]?.settle(0, turns);
  }

  renew(): void {
    this.money.renew();
    this.tokens.renew();
    if (this.caps.turns !== null) this.turns[0]?.renew(wholeTurns(this.caps.turns));
  }

  private async reserveFrom(
    name: keyof AccountReservations,
    need: RequestEstimate,
    signal: AbortSignal,
    waits: OnWait | undefined,
  ): Promise<AccountReservation | Stop> {
    const forbids = () => this.judgeTurn(need);
    return this[name].reserve(need, signal, forbids, () => waits?.('budget'));
  }

  private judgeTurn({ isTurn }: RequestEstimate): Stop | null {
    if (this.isClosed) return BUDGET_CLOSED;
    const spent = isTurn ? this.turns.findIndex(({ left }) => left < 1) : -1;
    if (spent === -1) return null;
    const isOfRun = spent === this.turns.length - 1 && this.root.caps.turns !== null;
    return { reason: 'max_turns', detail: isOfRun ? TURNS_USED : OWN_TURNS_USED };
  }

  private open(
    { isTurn }: RequestEstimate,
    reservations: Readonly<AccountReservations>,
  ): Reservation {
    const turns = isTurn ? this.turns : [];
    for (const pool of turns) pool.reserve(1);
    let isOpen = true;
    const end = (used: Readonly<Record<keyof AccountReservations, number>>, turn: number) => {
      isOpen = false;
      // Settle the turn first, because a request that waits for money may also need the turn.
      for (const pool of turns) pool.settle(1, turn);
      reservations.money?.settle(used.money);
      reservations.tokens?.settle(used.tokens);
    };
    return {
      reserved: reservedAmount(reservations),
      refusal: () => reservations.money?.refusal() ?? reservations.tokens?.refusal() ?? null,
      settle: (spent) => {
        if (!isOpen) return;
        const [usd, tokens] = [MONEY.used(spent), TOKENS.used(spent)];
        this.money.count(usd);
        this.tokens.count(tokens);
        end({ money: usd ?? 0, tokens: tokens ?? 0 }, 1);
      },
      cancel: () => {
        if (isOpen) end({ money: 0, tokens: 0 }, 0);
      },
    };
  }

  private get root(): Ledger {
    return this.parent?.root ?? this;
  }
}

/** Amounts reserved for a request. */
interface AccountReservations {
  money: AccountReservation | undefined;
  tokens: AccountReservation | undefined;
}

const release = ({ money, tokens }: AccountReservations): void => {
  money?.settle(0);
  tokens?.settle(0);
};

const reservedAmount = ({
  money,
  tokens,
}: Readonly<AccountReservations>): ReservedAmount | null => {
  if (money === undefined && tokens === undefined) return null;
  return {
    ...(money && { usd: MONEY.amount(money.units), left: MONEY.amount(money.left) }),
    ...(tokens && { tokens: tokens.units, tokensLeft: tokens.left }),
  };
};

/** Balance of a pool. The first four figures always add up to the cap. */
interface PoolBalance {
  readonly used: number;
  readonly reserved: number;
  /** Allocated to child pools or used by them. */
  readonly allocated: number;
  readonly left: number;
  readonly cap: number;
}

const poolBalance = (
  pool: Pool | undefined,
  amount: (units: number) => number,
): PoolBalance | null =>
  pool === undefined
    ? null
    : {
        used: amount(pool.used),
        reserved: amount(pool.reserved),
        allocated: amount(pool.allocated),
        left: amount(pool.left),
        cap: amount(pool.cap),
      };

const TURNS_USED = 'The run and its agents used all their turns; resume it or raise --max-turns.';
const OWN_TURNS_USED = 'The agent used all the turns that it was given; its work so far is kept.';
