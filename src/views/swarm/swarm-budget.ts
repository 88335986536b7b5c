/**
 * Folds the remaining budget of a lead and its agents. Agents without a cap draw on the lead's pool, so
 * the newest reservation of any of them reports the rest of the pool. Until the next reservation, the
 * real cost of each request replaces its reserved amount.
 */
import { spendingOf } from '../../context/budget/event-spending.js';
import { windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';

export interface RemainingBudget {
  /** Null if money has no limit, or before the first reservation. */
  readonly usd: number | null;
  readonly tokens: number | null;
}

type Currency = keyof RemainingBudget;
type Amounts = Record<Currency, number | null>;

/** Share of an agent in the lead's pool. */
interface PoolShare {
  /** Currencies that the agent draws from the lead's pool. */
  readonly draws: Readonly<Record<Currency, boolean>>;
  /** Amounts reserved for the request in flight. */
  readonly reserved: Amounts;
}

const UNKNOWN: RemainingBudget = { usd: null, tokens: null };

export class SwarmBudget {
  private readonly lead: string;
  private readonly shares = new Map<string, PoolShare>();
  private remaining: RemainingBudget = UNKNOWN;

  constructor(lead: string) {
    this.lead = lead;
  }

  get left(): RemainingBudget {
    return this.remaining;
  }

  take(event: SwarmEvent): void {
    switch (event.type) {
      case 'agent.spawned':
        this.join(event);
        break;
      case 'epoch.began':
        // Another process may have other limits, and has no request in flight.
        if (event.agent === this.lead) this.remaining = UNKNOWN;
        this.clearReserved(event.agent);
        break;
      case 'budget.reserved':
        this.reserve(event);
        break;
      case 'turn.ended':
      case 'turn.failed':
      case 'consultation.ended':
        this.settle(event);
        break;
      default:
        break;
    }
  }

  copy(): SwarmBudget {
    const copy = new SwarmBudget(this.lead);
    copy.remaining = this.remaining;
    for (const [agent, { draws, reserved }] of this.shares) {
      copy.shares.set(agent, { draws, reserved: { ...reserved } });
    }
    return copy;
  }

  private join({ agent, parent, origin }: SwarmEvent): void {
    if (agent === this.lead || typeof origin !== 'object' || origin === null) return;
    const { maxBudgetUsd, maxBudgetTokens } = origin as Readonly<Record<string, unknown>>;
    const above = this.shareOf(parent ?? this.lead).draws;
    const draws = {
      usd: above.usd && typeof maxBudgetUsd !== 'number',
      tokens: above.tokens && typeof maxBudgetTokens !== 'number',
    };
    this.shares.set(agent, { draws, reserved: { ...UNKNOWN } });
  }

  private reserve(event: SwarmEvent): void {
    const { draws, reserved } = this.shareOf(event.agent);
    const left = { ...this.remaining };
    for (const { currency, amountKey, leftKey } of KEYS) {
      const [amount, remaining] = [event[amountKey], event[leftKey]];
      if (!draws[currency] || !isAmount(amount) || !isAmount(remaining)) continue;
      reserved[currency] = amount;
      left[currency] = remaining;
    }
    this.remaining = left;
  }

  /** Reservations of side requests are in no event, so their end returns no reserved amount. */
  private settle(event: SwarmEvent): void {
    const spent = spendingOf(event);
    const { draws, reserved } = this.shareOf(event.agent);
    const used = { usd: spent?.cost ?? 0, tokens: spent ? windowTokens(spent.usage) : 0 };
    const left = { ...this.remaining };
    for (const { currency } of KEYS) {
      const before = left[currency];
      if (!draws[currency] || before === null) continue;
      const returned = event.type === 'consultation.ended' ? 0 : (reserved[currency] ?? 0);
      left[currency] = before + returned - used[currency];
    }
    if (event.type !== 'consultation.ended') this.clearReserved(event.agent);
    this.remaining = left;
  }

  private shareOf(agent: string): PoolShare {
    const existing = this.shares.get(agent);
    if (existing !== undefined) return existing;
    const fresh = { draws: { usd: true, tokens: true }, reserved: { ...UNKNOWN } };
    this.shares.set(agent, fresh);
    return fresh;
  }

  private clearReserved(agent: string): void {
    Object.assign(this.shareOf(agent).reserved, UNKNOWN);
  }
}

const KEYS = [
  { currency: 'usd', amountKey: 'usd', leftKey: 'left' },
  { currency: 'tokens', amountKey: 'tokens', leftKey: 'tokensLeft' },
] as const;

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);
