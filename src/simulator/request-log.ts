/** Request log of a simulator: the last requests with their bodies, and totals of all requests. */
import type { IncomingHttpHeaders } from 'node:http';
import { requestCost, uncachedRequestCost } from '../protocol/model/request-cost.js';
import { addUsage, NO_USAGE, type Usage } from '../protocol/model/usage.js';

export interface RequestRecord {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Body as received. */
  readonly body: Buffer;
  readonly status: number;
  readonly model?: string;
  /** Token usage. Set only for answered messages. */
  readonly usage?: Usage;
}

export interface RequestTotals {
  /** Number of all requests, including requests that are no longer kept. */
  readonly requests: number;
  /** Number of answered messages. */
  readonly messages: number;
  readonly usage: Usage;
  /** Cost in USD. Undefined if the price of any answered model is unknown. */
  readonly cost: number | undefined;
  readonly uncachedCost: number | undefined;
}

/** Maximum bytes of all kept bodies together. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

export class RequestLog {
  private readonly records: RequestRecord[] = [];
  private readonly maxKept: number;
  private keptBytes = 0;
  private sums: RequestTotals = {
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
    return this.records;
  }

  get totals(): RequestTotals {
    return this.sums;
  }

  add(record: RequestRecord): void {
    this.records.push(record);
    this.keptBytes += record.body.length;
    while (this.records.length > this.maxKept || this.keptBytes > MAX_KEPT_BYTES)
      this.keptBytes -= this.records.shift()?.body.length ?? 0;
    this.count(record);
  }

  private count({ model, usage }: RequestRecord): void {
    const totals = this.sums;
    const requests = totals.requests + 1;
    this.sums =
      model === undefined || usage === undefined
        ? { ...totals, requests }
        : {
            requests,
            messages: totals.messages + 1,
            usage: addUsage(totals.usage, usage),
            cost: sum(totals.cost, requestCost(model, usage)),
            uncachedCost: sum(totals.uncachedCost, uncachedRequestCost(model, usage)),
          };
  }
}

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a + b;
