/** Cached web: keeps fetched pages for 15 minutes. */
import type { Clock } from '../../protocol/clock.js';
import type { Web, WebPage } from '../../protocol/tools/web.js';

const LIFETIME_MS = 15 * 60_000;
/** Room for a few of the largest pages or hundreds of ordinary pages. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Estimated bytes of a cache entry besides the page. */
const OVERHEAD = 1_024;

interface CachedPage {
  readonly page: WebPage;
  readonly until: number;
}

/** Caches pages with status 200 only. Evicts the least recently used page first. */
export const cachedWeb = (web: Web, clock: Clock, maxBytes: number = MAX_BYTES): Web => {
  // A Map keeps insertion order, so the first key is the least recently used.
  const cache = new Map<string, CachedPage>();
  let cachedBytes = 0;
  const drop = (key: string) => {
    const entry = cache.get(key);
    if (entry !== undefined) cachedBytes -= sizeOf(entry.page);
    cache.delete(key);
  };
  return {
    async get(address, signal) {
      const key = keyOf(address);
      const cached = cache.get(key);
      if (cached !== undefined && cached.until > clock.now()) {
        cache.delete(key);
        cache.set(key, cached);
        return cached.page;
      }
      drop(key);
      const page = await web.get(address, signal);
      if (page.kind !== 'page' || page.status !== 200 || sizeOf(page) > maxBytes) return page;
      drop(key);
      cache.set(key, { page, until: clock.now() + LIFETIME_MS });
      cachedBytes += sizeOf(page);
      for (const oldest of cache.keys()) {
        if (cachedBytes <= maxBytes) break;
        drop(oldest);
      }
      return page;
    },
  };
};

const keyOf = (address: URL): string =>
  address.href.slice(0, address.href.length - address.hash.length);

const sizeOf = ({ body, address }: WebPage): number => body.length + address.length + OVERHEAD;
