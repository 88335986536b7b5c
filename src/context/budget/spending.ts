/** Spending of an agent or a session: tokens and money, in total and by model. */
import { addUsage, NO_USAGE, type Usage } from '../../protocol/model/usage.js';

/** Spending of a request, or a sum of requests. */
export interface Spent {
  readonly usage: Usage;
  /** USD; null if the price of a model is unknown. */
  readonly cost: number | null;
}

const NOTHING: Spent = { usage: NO_USAGE, cost: 0 };

export class Spending {
  readonly byModel = new Map<string, Spent>();
  private total = NOTHING;
  private whole: Spending | undefined;

  get usage(): Usage {
    return this.total.usage;
  }

  /** USD; null if the price of any request is unknown. */
  get cost(): number | null {
    return this.total.cost;
  }

  count({ model, usage, cost }: Spent & { readonly model: string }): void {
    const spent = { usage, cost };
    this.byModel.set(model, sum(this.byModel.get(model) ?? NOTHING, spent));
    this.total = sum(this.total, spent);
    this.whole?.count({ model, ...spent });
  }

  /** Counts all later spending in `whole` too. Earlier spending is not added. */
  joins(whole: Spending): void {
    this.whole = whole;
  }

  add(other: Spending): void {
    for (const [model, spent] of other.byModel) this.count({ model, ...spent });
  }
}

const sum = (a: Spent, b: Spent): Spent => ({
  usage: addUsage(a.usage, b.usage),
  cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
});
