/**
 * What a lead and its agents have left to spend, folded from events. Whoever has no cap of its own draws on
 * the lead's pool, so the newest reservation of any of them tells what is in it; between two of them what a
 * request cost takes the place of what was set aside for it.
 */
import { spendingOf } from '../../context/budget/event-spending.js';
import { windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/events.js';

export interface BudgetLeft {
  /** Null where money has no limit, or nothing was asked for yet. */
  readonly usd: number | null;
  readonly tokens: number | null;
}

type Currency = keyof BudgetLeft;
type Amounts = Record<Currency, number | null>;

/** Where an agent draws from the lead's pool, and what is set aside there for its request in flight. */
interface Drawing {
  readonly draws: Readonly<Record<Currency, boolean>>;
  readonly held: Amounts;
}

const NOTHING: BudgetLeft = { usd: null, tokens: null };

export class BudgetFold {
  private readonly lead: string;
  private readonly drawings = new Map<string, Drawing>();
  private ownLeft: BudgetLeft = NOTHING;

  constructor(lead: string) {
    this.lead = lead;
  }

  get left(): BudgetLeft {
    return this.ownLeft;
  }

  take(event: SwarmEvent): void {
    switch (event.type) {
      case 'agent.spawned':
        this.join(event);
        break;
      case 'epoch.began':
        // Another process may have other limits, and what was in flight is not any more.
        if (event.agent === this.lead) this.ownLeft = NOTHING;
        this.forgetHeld(event.agent);
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

  copy(): BudgetFold {
    const twin = new BudgetFold(this.lead);
    twin.ownLeft = this.ownLeft;
    for (const [agent, { draws, held }] of this.drawings) {
      twin.drawings.set(agent, { draws, held: { ...held } });
    }
    return twin;
  }

  private join({ agent, parent, origin }: SwarmEvent): void {
    if (agent === this.lead || typeof origin !== 'object' || origin === null) return;
    const { maxBudgetUsd, maxBudgetTokens } = origin as Readonly<Record<string, unknown>>;
    const above = this.drawingOf(parent ?? this.lead).draws;
    const draws = {
      usd: above.usd && typeof maxBudgetUsd !== 'number',
      tokens: above.tokens && typeof maxBudgetTokens !== 'number',
    };
    this.drawings.set(agent, { draws, held: { ...NOTHING } });
  }

  private reserve(event: SwarmEvent): void {
    const { draws, held } = this.drawingOf(event.agent);
    const left = { ...this.ownLeft };
    for (const { currency, aside, rest } of KEYS) {
      const [amount, remaining] = [event[aside], event[rest]];
      if (!draws[currency] || !isAmount(amount) || !isAmount(remaining)) continue;
      held[currency] = amount;
      left[currency] = remaining;
    }
    this.ownLeft = left;
  }

  /** A question beside the conversation is set aside too, but that is in no event. */
  private settle(event: SwarmEvent): void {
    const spent = spendingOf(event);
    const { draws, held } = this.drawingOf(event.agent);
    const used = { usd: spent?.cost ?? 0, tokens: spent ? windowTokens(spent.usage) : 0 };
    const left = { ...this.ownLeft };
    for (const { currency } of KEYS) {
      const before = left[currency];
      if (!draws[currency] || before === null) continue;
      const back = event.type === 'consultation.ended' ? 0 : (held[currency] ?? 0);
      left[currency] = before + back - used[currency];
    }
    if (event.type !== 'consultation.ended') this.forgetHeld(event.agent);
    this.ownLeft = left;
  }

  private drawingOf(agent: string): Drawing {
    const known = this.drawings.get(agent);
    if (known !== undefined) return known;
    const fresh = { draws: { usd: true, tokens: true }, held: { ...NOTHING } };
    this.drawings.set(agent, fresh);
    return fresh;
  }

  private forgetHeld(agent: string): void {
    Object.assign(this.drawingOf(agent).held, NOTHING);
  }
}

const KEYS = [
  { currency: 'usd', aside: 'usd', rest: 'left' },
  { currency: 'tokens', aside: 'tokens', rest: 'tokensLeft' },
] as const;

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);
