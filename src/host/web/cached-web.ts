/** Cached web: keeps fetched pages for 15 minutes. */
import type { Clock } from '../../protocol/clock.js';
import type { Web, WebPage } from '../../protocol/tools/web.js';

const LIFETIME_MS = 15 * 60_000;
/** Room for a few of the largest pages or hundreds of ordinary pages. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Estimated bytes of a cache entry besides the page. */
const OVERHEAD = 1_024;

interface Kept {
  readonly page: WebPage;
  readonly until: number;
}

/** Caches pages with status 200 only. Evicts the least recently used page first. */
export const cachedWeb = (web: Web, clock: Clock, maxBytes: number = MAX_BYTES): Web => {
  // A Map keeps insertion order, so the first key is the least recently used.
  const kept = new Map<string, Kept>();
  let held = 0;
  const drop = (key: string) => {
    const entry = kept.get(key);
    if (entry !== undefined) held -= sizeOf(entry.page);
    kept.delete(key);
  };
  return {
    async get(address, signal) {
      const key = keyOf(address);
      const known = kept.get(key);
      if (known !== undefined && known.until > clock.now()) {
        kept.delete(key);
        kept.set(key, known);
        return known.page;
      }
      drop(key);
      const page = await web.get(address, signal);
      if (page.kind !== 'page' || page.status !== 200 || sizeOf(page) > maxBytes) return page;
      drop(key);
      kept.set(key, { page, until: clock.now() + LIFETIME_MS });
      held += sizeOf(page);
      for (const oldest of kept.keys()) {
        if (held <= maxBytes) break;
        drop(oldest);
      }
      return page;
    },
  };
};

const keyOf = (address: URL): string =>
  address.href.slice(0, address.href.length - address.hash.length);

const sizeOf = ({ body, address }: WebPage): number => body.length + address.length + OVERHEAD;
