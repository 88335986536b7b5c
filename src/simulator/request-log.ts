/** The last requests a simulator answered, for tests to look at, and what all of them added up to. */
import type { IncomingHttpHeaders } from 'node:http';
import { costOf, uncachedCostOf } from '../protocol/model/prices.js';
import { addUsage, NO_USAGE, type Usage } from '../protocol/model/usage.js';

export interface RequestRecord {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came over the wire. */
  readonly body: Buffer;
  readonly status: number;
  readonly model?: string;
  /** Only of messages that were answered. */
  readonly usage?: Usage;
}

export interface Totals {
  /** All requests, also those that are no longer kept. */
  readonly requests: number;
  /** Answered messages only. */
  readonly messages: number;
  readonly usage: Usage;
  /** USD; undefined as soon as one message came from a model without a known price. */
  readonly cost: number | undefined;
  readonly uncachedCost: number | undefined;
}

/** Bodies that are kept for tests never hold more memory than this together. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

export class RequestLog {
  private readonly ownKept: RequestRecord[] = [];
  private readonly maxKept: number;
  private keptBytes = 0;
  private ownTotals: Totals = {
    requests: 0,
    messages: 0,
    usage: NO_USAGE,
    cost: 0,
    uncachedCost: 0,
  };

  constructor(maxKept: number) {
    this.maxKept = maxKept;
  }

  get kept(): readonly RequestRecord[] {
    return this.ownKept;
  }

  get totals(): Totals {
    return this.ownTotals;
  }

  add(record: RequestRecord): void {
    this.ownKept.push(record);
    this.keptBytes += record.body.length;
    while (this.ownKept.length > this.maxKept || this.keptBytes > MAX_KEPT_BYTES)
      this.keptBytes -= this.ownKept.shift()?.body.length ?? 0;
    this.count(record);
  }

  private count({ model, usage }: RequestRecord): void {
    const totals = this.ownTotals;
    const requests = totals.requests + 1;
    this.ownTotals =
      model === undefined || usage === undefined
        ? { ...totals, requests }
        : {
            requests,
            messages: totals.messages + 1,
            usage: addUsage(totals.usage, usage),
            cost: sum(totals.cost, costOf(model, usage)),
            uncachedCost: sum(totals.uncachedCost, uncachedCostOf(model, usage)),
          };
  }
}

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a + b;
