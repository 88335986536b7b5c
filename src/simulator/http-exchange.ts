/** HTTP exchange of a request and its response: reads headers, responds, and records the request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../protocol/clock.js';
import type { Usage } from '../protocol/model/usage.js';
import type { ApiError } from './api-error.js';
import { shortId } from './compose-reply.js';
import type { RequestRecord } from './request-log.js';

type Headers = Readonly<Record<string, string>>;

export class HttpExchange {
  readonly response: ServerResponse;
  body: Buffer = Buffer.alloc(0);
  private readonly request: IncomingMessage;
  private readonly requestId: string;
  private readonly clock: Clock;
  private readonly record: (record: RequestRecord) => void;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    number: number,
    clock: Clock,
    record: (record: RequestRecord) => void,
  ) {
    this.request = request;
    this.response = response;
    this.requestId = `req_01${shortId(String(number))}`;
    this.clock = clock;
    this.record = record;
  }

  get method(): string {
    return this.request.method ?? '';
  }

  get path(): string {
    return (this.request.url ?? '').split('?', 1)[0] ?? '';
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /** Writes the status and headers, and records the request. */
  start(status: number, type: string, headers: Headers = {}, measured?: MeasuredUsage): void {
    const { method, path, body } = this;
    this.record({ method, path, headers: this.request.headers, body, status, ...measured });
    this.response.writeHead(status, {
      'content-type': type,
      'request-id': this.requestId,
      ...this.rateLimits(status),
      ...headers,
    });
  }

  json(text: string): void {
    this.start(200, 'application/json');
    this.response.end(text);
  }

  fail(error: ApiError): void {
    this.start(error.status, 'application/json', error.headers);
    this.response.end(error.body(this.requestId));
  }

  private rateLimits(status: number): Headers {
    const reset = `${new Date(this.clock.now() + 60_000).toISOString().slice(0, 19)}Z`;
    const isLimited = status === 429;
    return {
      'anthropic-ratelimit-requests-limit': '4000',
      'anthropic-ratelimit-requests-remaining': isLimited ? '0' : '3999',
      'anthropic-ratelimit-requests-reset': reset,
      'anthropic-ratelimit-tokens-limit': '4000000',
      'anthropic-ratelimit-tokens-remaining': isLimited ? '0' : '4000000',
      'anthropic-ratelimit-tokens-reset': reset,
      ...(isLimited ? { 'retry-after': '1' } : {}),
    };
  }
}

interface MeasuredUsage {
  readonly model: string;
  readonly usage: Usage;
}
