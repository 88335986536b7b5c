/**
 * The ledger of a swarm (law 10): grants of money, tokens and turns, down the tree. Before a request what
 * it may cost is set aside, and afterwards what it did cost takes its place, so that a limit is passed by
 * one answer for each request in flight at the most. Every step costs the depth of the tree.
 */
import type { Stop } from '../../protocol/agent/agent.js';
import type {
  Budget,
  Caps,
  Need,
  Overshoot,
  Reservation,
  SetAside,
} from '../../protocol/model/budget.js';
import type { TellWait } from '../../protocol/model/queueing.js';
import { Account, type HeldReservation, OVER } from './account.js';
import { MONEY, TOKENS } from './currency.js';
import { Pool } from './pool.js';
import type { Used } from './run-usage.js';

const wholeTurns = (turns: number): number => Math.max(0, Math.floor(turns));

export interface RootGrant extends Budget {
  /** A new run: its turns begin anew, and of what was spent only that of this process counts. */
  renew(): void;
  /** So much was used up elsewhere that counts here as well. */
  carry(used: UsedBefore): void;
}

/** What was used up before there was this grant. */
export type UsedBefore = Omit<Used, 'agents'>;

export const NOTHING_USED: UsedBefore = { usd: 0, tokens: 0, turns: 0 };

export const rootGrant = (caps: Caps, before: UsedBefore = NOTHING_USED): RootGrant => {
  const root = new Ledger(caps, undefined);
  root.carry(before);
  return root;
};

export class Ledger implements RootGrant {
  private readonly parent: Ledger | undefined;
  private readonly caps: Caps;
  private readonly money: Account;
  private readonly tokens: Account;
  /**
   * Its own and those above it, nearest first; one turn is one of each. Unlike money turns are not set
   * aside: whoever starts an agent that may take many would have none left to go on with.
   */
  private readonly turns: readonly Pool[];
  private isOver = false;

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

  /** Of the nearest pools that this agent draws on; null where there is no limit. */
  get books(): Readonly<Record<'money' | 'tokens' | 'turns', Books | null>> {
    return {
      money: booksOf(this.money.pool, MONEY.amount),
      tokens: booksOf(this.tokens.pool, TOKENS.amount),
      turns: booksOf(this.turns[0], (turns) => turns),
    };
  }

  async reserve(need: Need, signal: AbortSignal, waits?: TellWait): Promise<Reservation | Stop> {
    signal.throwIfAborted();
    const holds: Holds = { money: undefined, tokens: undefined };
    // Always in this order, so that no two wait for what the other has.
    for (const name of ['money', 'tokens'] as const) {
      if (!this[name].isLimited) continue;
      const answer = await this.hold(name, need, signal, waits).catch((error: unknown) => {
        release(holds);
        throw error;
      });
      if ('reason' in answer) {
        release(holds);
        return answer;
      }
      holds[name] = answer;
    }
    const stop = this.judgeTurn(need);
    if (stop !== null) release(holds);
    return stop ?? this.open(need, holds);
  }

  share(caps: Caps): Budget {
    return new Ledger(caps, this);
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.money.close();
    this.tokens.close();
  }

  /** The run goes on that used so much. */
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

  private async hold(
    name: keyof Holds,
    need: Need,
    signal: AbortSignal,
    waits: TellWait | undefined,
  ): Promise<HeldReservation | Stop> {
    const forbids = () => this.judgeTurn(need);
    return this[name].hold(need, signal, forbids, () => waits?.('budget'));
  }

  private judgeTurn({ isTurn }: Need): Stop | null {
    if (this.isOver) return OVER;
    const spent = isTurn ? this.turns.findIndex(({ left }) => left < 1) : -1;
    if (spent === -1) return null;
    const isOfRun = spent === this.turns.length - 1 && this.root.caps.turns !== null;
    return { reason: 'max_turns', detail: isOfRun ? TURNS_USED : OWN_TURNS_USED };
  }

  private open({ isTurn }: Need, holds: Readonly<Holds>): Reservation {
    const turns = isTurn ? this.turns : [];
    for (const pool of turns) pool.hold(1);
    let isOpen = true;
    const end = (used: Readonly<Record<keyof Holds, number>>, turn: number) => {
      isOpen = false;
      // The turn first: whoever waits for the money may need it too.
      for (const pool of turns) pool.settle(1, turn);
      holds.money?.settle(used.money);
      holds.tokens?.settle(used.tokens);
    };
    return {
      held: setAside(holds),
      refusal: () => holds.money?.refusal() ?? holds.tokens?.refusal() ?? null,
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

/** What is set aside for one request. */
interface Holds {
  money: HeldReservation | undefined;
  tokens: HeldReservation | undefined;
}

const release = ({ money, tokens }: Holds): void => {
  money?.settle(0);
  tokens?.settle(0);
};

const setAside = ({ money, tokens }: Readonly<Holds>): SetAside | null => {
  if (money === undefined && tokens === undefined) return null;
  return {
    ...(money && { usd: MONEY.amount(money.units), left: MONEY.amount(money.left) }),
    ...(tokens && { tokens: tokens.units, tokensLeft: tokens.left }),
  };
};

/** What a pool holds: the first four always add up to the cap. */
export interface Books {
  readonly used: number;
  readonly reserved: number;
  /** Set aside for those below, or used by them. */
  readonly promised: number;
  readonly left: number;
  readonly cap: number;
}

const booksOf = (pool: Pool | undefined, amount: (units: number) => number): Books | null =>
  pool === undefined
    ? null
    : {
        used: amount(pool.used),
        reserved: amount(pool.reserved),
        promised: amount(pool.promised),
        left: amount(pool.left),
        cap: amount(pool.cap),
      };

const TURNS_USED = 'The run and its agents used all their turns; resume it or raise --max-turns.';
const OWN_TURNS_USED =
  'The agent used all the turns that it was given; what it did so far is kept.';
