/** Error that the Messages API reported, with the fields of the official SDK's error. */
import type { IncomingHttpHeaders } from 'node:http';
import { parseJson } from '../lib/json/parse-json.js';

interface ErrorBody {
  readonly message?: unknown;
  readonly error?: { readonly type?: string; readonly message?: unknown } | null;
}

export class AnswerError extends Error {
  readonly status: number | undefined;
  readonly type: string | null;
  /** Body of the answer, if it is JSON. */
  readonly error: unknown;
  readonly headers: { get(name: string): string | null };

  /** `status`: undefined for an error event of a stream that had started. `page`: body of the answer. */
  constructor(status: number | undefined, page: string, headers: IncomingHttpHeaders) {
    const parsed = parseJson(page) as ErrorBody | null | undefined;
    const body = status === undefined ? (parsed ?? { message: page }) : parsed;
    super([status, textOf(body, page)].filter((part) => part !== undefined).join(' '));
    this.status = status;
    this.type = body?.error?.type ?? null;
    this.error = body;
    this.headers = {
      get(name) {
        const value = headers[name];
        return value === undefined ? null : String(value);
      },
    };
  }
}

const textOf = (body: ErrorBody | null | undefined, page: string): string => {
  if (!body) return body === null || page === '' ? 'status code (no body)' : page;
  const { message } = body;
  return typeof message === 'string' && message !== ''
    ? message
    : JSON.stringify(message ? message : body);
};
