/** Web exchange: a GET request with limits on bytes, idle time and total time. */
import http, { type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Clock } from '../../protocol/clock.js';
import { WebFailure } from '../../protocol/tools/web.js';

export interface WebExchangeOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly endsAt: number;
  readonly idleMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly lookup: LookupFunction;
  readonly agent: Agent | undefined;
}

export interface WebReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Body as sent, possibly compressed. */
  readonly body: Uint8Array;
  readonly cut: boolean;
}

/** Rejects with WebFailure, or with the signal's reason. */
export const webExchange = async (url: URL, options: WebExchangeOptions): Promise<WebReply> => {
  const { signal, headers, lookup, agent = false } = options;
  const transport = url.protocol === 'https:' ? https : http;
  const request = transport.get(url, { headers, lookup, agent });
  let endFailure: WebFailure | undefined;
  let abandon = () => {};
  const abandoned = new Promise<never>((_, reject) => {
    abandon = () => reject(new Error('given up'));
  });
  abandoned.catch(() => {});
  const end = (failure: WebFailure | undefined) => {
    endFailure ??= failure;
    request.destroy(failure);
    // A request that waits for its proxy tunnel reports its end only when the tunnel is open.
    abandon();
  };
  const watch = startTimeout(url, options, () => request.socket?.bytesRead ?? 0, end);
  const abort = () => end(undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    const response = await Promise.race([responseTo(request), abandoned]);
    const { statusCode: status = 0, headers: received } = response;
    // The body of a redirect is not used.
    const room = isRedirect({ status, headers: received }) ? 0 : options.maxBytes;
    return { status, headers: received, ...(await bodyOf(response, room)) };
  } catch (error) {
    signal.throwIfAborted();
    throw endFailure ?? explainError(url, error);
  } finally {
    watch.stop();
    signal.removeEventListener('abort', abort);
    request.destroy();
  }
};

const responseTo = (request: http.ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Not removed, because a destroyed request may emit another error.
    request.on('error', reject);
  });

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export const isRedirect = ({ status, headers }: Pick<WebReply, 'status' | 'headers'>): boolean =>
  REDIRECTS.has(status) && headers.location !== undefined;

const bodyOf = async (response: IncomingMessage, limit: number) => {
  if (limit === 0) return { body: new Uint8Array(), cut: true };
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const rest = limit - length;
    chunks.push(chunk.subarray(0, rest));
    length += Math.min(chunk.length, rest);
    if (chunk.length > rest) return { body: Buffer.concat(chunks), cut: true };
  }
  return { body: Buffer.concat(chunks), cut: false };
};

/** Uses a single timer that is set to the next limit. */
const startTimeout = (
  url: URL,
  { clock, endsAt, idleMs }: WebExchangeOptions,
  bytesRead: () => number,
  end: (failure: WebFailure) => void,
) => {
  let lastBytes = 0;
  let lastBytesAt = clock.now();
  let cancelTimer = () => {};
  const check = () => {
    const now = clock.now();
    const bytes = bytesRead();
    if (bytes > lastBytes) [lastBytes, lastBytesAt] = [bytes, now];
    if (now >= endsAt) {
      end(new WebFailure(`${url.href} did not finish within its time limit.`));
    } else if (now - lastBytesAt >= idleMs) {
      end(
        new WebFailure(`${url.host} sent no data for ${idleMs} ms, so the request was cancelled.`),
      );
    } else cancelTimer = clock.wakeAt(Math.min(endsAt, lastBytesAt + idleMs), check);
  };
  check();
  return { stop: () => cancelTimer() };
};

const explainError = (url: URL, error: unknown): WebFailure => {
  if (error instanceof WebFailure) return error;
  const cause = rootOf(error);
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const why = REASONS[code] ?? `the connection failed (${code || String(cause.message)})`;
  return new WebFailure(`${url.href} could not be fetched: ${why}.`, { cause: error });
};

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNREFUSED: 'nothing answers there',
  ECONNRESET: 'the server broke the connection',
  ETIMEDOUT: 'nothing answers there',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  HPE_HEADER_OVERFLOW: 'the server sent too many headers',
};

/** Returns the first error if several addresses were tried. */
const rootOf = (error: unknown): Error => {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0];
  return error instanceof Error ? error : new Error(String(error));
};
