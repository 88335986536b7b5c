/**
 * Web client that fetches pages for tools. A model chooses the address and may have read hostile
 * text, so every redirect is checked, the connected address must be public, and redirects to
 * another host are not followed.
 */
import { lookup as systemLookup } from 'node:dns';
import type { Agent } from 'node:http';
import { type ProxyEnvironment, proxyFor } from '../../lib/proxy-for.js';
import type { Clock } from '../../protocol/clock.js';
import {
  addressProblem,
  MAX_PAGE_BYTES,
  type Web,
  type WebAnswer,
  WebFailure,
  type WebRedirect,
} from '../../protocol/tools/web.js';
import { decompress } from './decompress.js';
import { guardedLookup, type Lookup, plainLookup } from './guarded-lookup.js';
import { isPrivateHost, listsHost } from './is-private-address.js';
import { isRedirect, type WebReply, webExchange } from './web-exchange.js';

export interface WebClientOptions {
  readonly env: ProxyEnvironment;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Hosts, or hosts with ports, that may be on this machine or its network. */
  readonly allowPrivateAddresses: readonly string[];
  readonly lookup?: Lookup;
  readonly limits?: Partial<WebLimits>;
}

export interface WebLimits {
  /** Maximum bytes of the body, compressed and decompressed. */
  readonly bytes: number;
  /** Time limit of a fetch, redirects included. */
  readonly totalMs: number;
  /** Time limit without received bytes. */
  readonly idleMs: number;
  readonly redirects: number;
}

export const WEB_LIMITS: WebLimits = {
  bytes: MAX_PAGE_BYTES,
  totalMs: 60_000,
  idleMs: 20_000,
  redirects: 5,
};

export const webClient = (options: WebClientOptions): Web => {
  const { env, clock, userAgent, allowPrivateAddresses } = options;
  const limits = { ...WEB_LIMITS, ...options.limits };
  const headers = {
    'user-agent': userAgent,
    accept: 'text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,text/*;q=0.8,*/*;q=0.5',
    'accept-encoding': 'gzip, deflate, br',
  };

  const reply = async (url: URL, endsAt: number, signal: AbortSignal): Promise<WebReply> => {
    const isAllowed = listsHost(allowPrivateAddresses, url);
    const lookup = options.lookup ?? systemLookup;
    if (!isAllowed && isPrivateHost(url.hostname)) throw refusal(url);
    const proxy = proxyFor(url, env);
    const agent = proxy === undefined ? undefined : await tunnelThrough(proxy);
    return webExchange(url, {
      headers,
      clock,
      endsAt,
      signal,
      agent,
      idleMs: limits.idleMs,
      maxBytes: limits.bytes,
      // With a proxy this lookup is unused, because the proxy resolves the name.
      lookup: isAllowed ? plainLookup(lookup) : guardedLookup(lookup, () => refusal(url)),
    });
  };

  return {
    async get(address, signal) {
      const endsAt = clock.now() + limits.totalMs;
      let url = upgradeToHttps(address, allowPrivateAddresses);
      for (let hops = 0; hops <= limits.redirects; hops += 1) {
        signal.throwIfAborted();
        const answer = await reply(url, endsAt, signal);
        const target = targetOf(answer, url, allowPrivateAddresses);
        if (target === undefined) return pageOf(answer, url, limits.bytes);
        if (!isSameSite(url, target)) return redirectTo(answer, target);
        url = target;
      }
      throw new WebFailure(
        `${address.href} redirects more than ${limits.redirects} times, the last time to ${url.href}.`,
      );
    },
  };
};

/** Upgrades http to https, unless the URL has a port or the host is private. */
const upgradeToHttps = (address: URL, allowed: readonly string[]): URL => {
  const url = new URL(address);
  url.hash = '';
  const isExplicit = url.port !== '' || listsHost(allowed, url) || isPrivateHost(url.hostname);
  if (url.protocol === 'http:' && !isExplicit) url.protocol = 'https:';
  return url;
};

const targetOf = (reply: WebReply, from: URL, allowed: readonly string[]): URL | undefined => {
  if (!isRedirect(reply)) return undefined;
  const { location = '' } = reply.headers;
  const isReadable = URL.canParse(location, from.href);
  const target = isReadable ? new URL(location, from) : undefined;
  const problem = target === undefined ? 'it is no address' : addressProblem(target.href);
  if (target === undefined || problem !== undefined) {
    throw new WebFailure(
      `${from.href} redirects to an address that cannot be fetched: ${problem}.`,
    );
  }
  return upgradeToHttps(target, allowed);
};

/** True if the permission ruling covers the target: same host and port, no downgrade to http. */
const isSameSite = (from: URL, to: URL) =>
  from.host === to.host && (from.protocol === to.protocol || to.protocol === 'https:');

const redirectTo = ({ status }: WebReply, to: URL): WebRedirect => ({
  kind: 'redirect',
  status,
  to: to.href,
});

const pageOf = async (reply: WebReply, url: URL, limit: number): Promise<WebAnswer> => {
  const { status, headers, body, cut } = reply;
  const unpacked = await decompress(body, headers['content-encoding'], limit);
  return {
    kind: 'page',
    address: url.href,
    status,
    contentType: headers['content-type'] ?? '',
    body: unpacked.bytes,
    cut: cut || unpacked.cut,
  };
};

const refusal = (url: URL) =>
  new WebFailure(
    `${url.host} is on this machine or its network, where WebFetch may not go. The user can allow it by adding "${url.host}" to skein.allowPrivateAddresses in settings.json.`,
  );

/** Connections are not kept alive, because fetches are rare and go to different hosts. */
const tunnelThrough = async (proxy: string): Promise<Agent> => {
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  return new HttpsProxyAgent(proxy);
};
