/**
 * Requests over node:http with connections kept alive. What can be known beforehand is prepared once
 * per destination, and an answer is the socket's own stream, not a copy of it.
 */
import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { type ProxyEnvironment, proxyFor } from '../lib/proxy.js';
import type { StallWatch } from './stall-watch.js';

export interface ExchangeOptions {
  readonly env: ProxyEnvironment;
  readonly stallWatch: StallWatch;
}

export interface Destination {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Iterable<readonly [name: string, value: string]>;
}

/** Rejects with what the network said; whatever status the server answers with is an answer. */
export type Send = (
  body: readonly Uint8Array[],
  signal: AbortSignal,
) => Promise<http.IncomingMessage>;

export const httpExchange = ({ env, stallWatch }: ExchangeOptions) => {
  const direct = { 'http:': keptAlive(http), 'https:': keptAlive(https) };
  const tunnels = new Map<string, Promise<http.Agent>>();
  const agentFor = (url: URL): http.Agent | Promise<http.Agent> => {
    const proxy = proxyFor(url, env);
    if (proxy === undefined) return direct[url.protocol === 'https:' ? 'https:' : 'http:'];
    const tunnel = tunnels.get(proxy) ?? openTunnel(proxy);
    tunnels.set(proxy, tunnel);
    return tunnel;
  };
  return (destination: Destination): Send => {
    const way = { ...wayTo(destination), stallWatch };
    return async (body, signal) => {
      const agent = await agentFor(destination.url);
      try {
        return await exchange(way, agent, body, signal);
      } catch (error) {
        // The server closed an idle connection just as we took it: nothing has been read or done.
        if (!(error instanceof StaleConnection)) throw error;
        return exchange(way, agent, body, signal);
      }
    };
  };
};

class StaleConnection extends Error {}

/** A wave of agents keeps all its connections between two turns: new ones cost far more. */
const KEPT = {
  keepAlive: true,
  scheduling: 'lifo',
  maxFreeSockets: Number.POSITIVE_INFINITY,
} as const;

const keptAlive = (transport: typeof http | typeof https) => new transport.Agent(KEPT);

const openTunnel = async (proxy: string): Promise<http.Agent> => {
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  return new HttpsProxyAgent(proxy, KEPT);
};

/** A destination in the words of node:http, which takes headers that are a list as they are. */
const wayTo = ({ url, method, headers }: Destination) => {
  const { protocol, hostname, port, path } = urlToHttpOptions(url);
  return {
    transport: protocol === 'https:' ? https : http,
    address: { protocol, hostname, port, path, method },
    headers: [...headers, ...PLAIN].flat(),
    host: ['Host', url.host],
  };
};

/** Nothing here unpacks a compressed stream. */
const PLAIN = [['accept-encoding', 'identity']] as const;

type Way = ReturnType<typeof wayTo> & { readonly stallWatch: StallWatch };

const exchange = (
  { transport, address, headers, host, stallWatch }: Way,
  agent: http.Agent,
  body: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const length = body.reduce((sum, piece) => sum + piece.length, 0);
    const all = [...headers, ...(length > 0 ? ['content-length', String(length)] : []), ...host];
    const request = transport.request({ ...address, headers: all, agent });
    let answer: http.IncomingMessage | undefined;
    const release = stallWatch.watch({
      progress: () => request.socket?.bytesRead ?? 0,
      // An answer that has begun must fail with this error: its reader hears of no other.
      stalled: (error) => breakOff(answer ?? request, error),
    });
    const abort = () => breakOff(request, abortError());
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
 * Requests leave at the end of a turn of the event loop. Those of many agents that were answered in it leave
 * together then, and a server that slept is woken once for all of them instead of once for each.
 */
const dispatch = (request: http.ClientRequest, body: readonly Uint8Array[]) => {
  // One write of all is faster than one for each piece, and nothing keeps the copy.
  if (!request.destroyed) request.end(Buffer.concat(body));
};

/** An answer that has ended meanwhile gives its connection away, and nobody hears its errors. */
const breakOff = (one: http.ClientRequest | http.IncomingMessage, error: Error) => {
  one.socket?.on('error', () => undefined);
  one.destroy(error);
};

const abortError = () => new DOMException('The request was aborted.', 'AbortError');

/** Of an error page nobody needs more. */
const MAX_PAGE = 64 * 1024;

/** The beginning of an answer that is not a stream. */
export const pageOf = async (response: http.IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let left = MAX_PAGE;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    left -= chunk.length;
    if (left < 0) break;
  }
  return Buffer.concat(chunks).toString();
};
