/**
 * HTTP exchange over node:http with keep-alive connections. Options and headers are prepared once
 * per destination, and a response is the socket's own stream, not a copy.
 */
import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { type ProxyEnvironment, proxyFor } from '../lib/proxy-for.js';
import type { StallWatch } from './stall-watch.js';

interface ExchangeOptions {
  readonly env: ProxyEnvironment;
  readonly stallWatch: StallWatch;
}

interface Destination {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Iterable<readonly [name: string, value: string]>;
}

/**
 * Sends the body and resolves with the response, also for an HTTP error. Rejects with the network error, or
 * with an AbortError. `progress` returns a number that grows with the content of the response, and undefined
 * before the response: then every received byte is progress.
 */
export type Send = (
  body: readonly Uint8Array[],
  signal: AbortSignal,
  progress?: () => number | undefined,
) => Promise<http.IncomingMessage>;

export const httpExchange = ({ env, stallWatch }: ExchangeOptions) => {
  const direct = new Map<string, http.Agent>();
  const directAgent = (protocol: string): http.Agent => {
    const agent = direct.get(protocol) ?? keptAlive(protocol === 'https:' ? https : http);
    direct.set(protocol, agent);
    return agent;
  };
  const tunnels = new Map<string, Promise<http.Agent>>();
  const agentFor = (url: URL): http.Agent | Promise<http.Agent> => {
    const proxy = proxyFor(url, env);
    if (proxy === undefined) return directAgent(url.protocol);
    const tunnel = tunnels.get(proxy) ?? openTunnel(proxy);
    tunnels.set(proxy, tunnel);
    return tunnel;
  };
  return (destination: Destination): Send => {
    const template = { ...requestTemplate(destination), stallWatch };
    return async (body, signal, progress) => {
      const agent = await agentFor(destination.url);
      const sent = { body, signal, progress };
      try {
        return await exchange(template, agent, sent);
      } catch (error) {
        // The server closed the idle connection before it read the request, so a retry is safe.
        if (!(error instanceof StaleConnection)) throw error;
        return exchange(template, agent, sent);
      }
    };
  };
};

class StaleConnection extends Error {}

/** Keeps every idle connection, because the agents of a swarm use them all again in their next turn. */
const KEEP_ALIVE_OPTIONS = {
  keepAlive: true,
  scheduling: 'lifo',
  maxFreeSockets: Number.POSITIVE_INFINITY,
} as const;

const keptAlive = (transport: typeof http | typeof https) =>
  new transport.Agent(KEEP_ALIVE_OPTIONS);

const openTunnel = async (proxy: string): Promise<http.Agent> => {
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  return new HttpsProxyAgent(proxy, KEEP_ALIVE_OPTIONS);
};

/** Converts a destination to options of node:http, which sends headers given as a list unchanged. */
const requestTemplate = ({ url, method, headers }: Destination) => {
  const { protocol, hostname, port, path } = urlToHttpOptions(url);
  return {
    transport: protocol === 'https:' ? https : http,
    address: { protocol, hostname, port, path, method },
    headers: [...headers, ...UNCOMPRESSED].flat(),
    host: ['Host', url.host],
  };
};

/** Asks for an uncompressed response, because the stream parser does not decompress. */
const UNCOMPRESSED = [['accept-encoding', 'identity']] as const;

type RequestTemplate = ReturnType<typeof requestTemplate> & { readonly stallWatch: StallWatch };

interface SentRequest {
  readonly body: readonly Uint8Array[];
  readonly signal: AbortSignal;
  readonly progress: (() => number | undefined) | undefined;
}

const exchange = (
  { transport, address, headers, host, stallWatch }: RequestTemplate,
  agent: http.Agent,
  { body, signal, progress }: SentRequest,
): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const length = body.reduce((sum, piece) => sum + piece.length, 0);
    const all = [...headers, ...(length > 0 ? ['content-length', String(length)] : []), ...host];
    const request = transport.request({ ...address, headers: all, agent });
    let answer: http.IncomingMessage | undefined;
    const release = stallWatch.watch({
      progress: () => progress?.() ?? request.socket?.bytesRead ?? 0,
      // Once a response has started, only the response stream passes errors on to its reader.
      onStall: (error) => destroyWith(answer ?? request, error),
    });
    const abort = () => destroyWith(request, abortError());
    const settle = () => {
      release();
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort, { once: true });
    request.on('error', (error: NodeJS.ErrnoException) => {
      settle();
      const stale = request.reusedSocket && error.code === 'ECONNRESET';
      reject(stale ? new StaleConnection('stale connection', { cause: error }) : error);
    });
    request.on('response', (response) => {
      answer = response;
      response.on('close', settle);
      resolve(response);
    });
    if (signal.aborted) abort();
    else setImmediate(() => dispatch(request, body));
  });

/**
 * Sends a request at the end of an event-loop turn. Requests of many agents then leave together, which wakes
 * an idle server once instead of once per request.
 */
const dispatch = (request: http.ClientRequest, body: readonly Uint8Array[]) => {
  // A single write of the whole body is faster than a write per piece.
  if (!request.destroyed) request.end(Buffer.concat(body));
};

/**
 * Destroys a request or a response with the error. A response that has ended meanwhile has already released its
 * socket, so errors of the socket are ignored.
 */
const destroyWith = (target: http.ClientRequest | http.IncomingMessage, error: Error) => {
  target.socket?.on('error', () => undefined);
  target.destroy(error);
};

const abortError = () => new DOMException('The request was aborted.', 'AbortError');

/** Maximum bytes read of an error page, except for the last chunk. */
const MAX_PAGE_BYTES = 64 * 1024;

/** Reads the beginning of a response that is not an event stream. */
export const readErrorPage = async (response: http.IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let left = MAX_PAGE_BYTES;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    left -= chunk.length;
    if (left < 0) break;
  }
  return Buffer.concat(chunks).toString();
};
