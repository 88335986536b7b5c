/** What an agent has used up: tokens and money, in all and by model. */
import { addUsage, NO_USAGE, type Usage } from '../protocol/usage.js';

/** One request's worth, or a sum of them. */
export interface Spent {
  readonly usage: Usage;
  /** USD; null when the price of a model is not known. */
  readonly cost: number | null;
}

const NOTHING: Spent = { usage: NO_USAGE, cost: 0 };

export class Spending {
  readonly byModel = new Map<string, Spent>();
  private total = NOTHING;

  get usage(): Usage {
    return this.total.usage;
  }

  /** USD; null as soon as one request had no known price. */
  get cost(): number | null {
    return this.total.cost;
  }

  count({ model, ...spent }: Spent & { readonly model: string }): void {
    this.byModel.set(model, sum(this.byModel.get(model) ?? NOTHING, spent));
    this.total = sum(this.total, spent);
  }
}

const sum = (one: Spent, other: Spent): Spent => ({
  usage: addUsage(one.usage, other.usage),
  cost: one.cost === null || other.cost === null ? null : one.cost + other.cost,
});
