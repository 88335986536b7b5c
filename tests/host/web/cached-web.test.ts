import { describe, expect, test } from 'vitest';
import { cachedWeb } from '../../../src/host/web/cached-web.js';
import type { WebAnswer, WebPage } from '../../../src/protocol/tools/web.js';
import { virtualClock } from '../../fakes/virtual-clock.js';

const pageOf = (address: string, bytes = 10, status = 200): WebPage => ({
  kind: 'page',
  address,
  status,
  contentType: 'text/plain',
  cut: false,
  body: new Uint8Array(bytes),
});

/** Cache over a web client that records its requests. */
const recordingCache = (answer: (address: string) => WebAnswer = pageOf, maxBytes?: number) => {
  const asked: string[] = [];
  const clock = virtualClock();
  const web = cachedWeb(
    {
      async get({ href }) {
        asked.push(href);
        return answer(href);
      },
    },
    clock,
    maxBytes,
  );
  const get = (address: string) => web.get(new URL(address), new AbortController().signal);
  return { asked, clock, get };
};

describe('a repeated request for a page', () => {
  test('is served from the cache, with any fragment after #', async () => {
    const { asked, get } = recordingCache();
    const first = await get('https://a.example/x');
    expect(await get('https://a.example/x#part')).toBe(first);
    expect(asked).toEqual(['https://a.example/x']);
  });

  test('is fetched again after fifteen minutes', async () => {
    const { asked, get, clock } = recordingCache();
    await get('https://a.example/');
    await clock.advance(15 * 60_000 - 1);
    await get('https://a.example/');
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await get('https://a.example/');
    expect(asked).toHaveLength(2);
  });

  test('is fetched again if its query differs', async () => {
    const { asked, get } = recordingCache();
    for (const query of ['', '?a', '?b', '?a']) await get(`https://a.example/${query}`);
    expect(asked).toHaveLength(3);
  });

  test.each([
    ['an error', pageOf('x', 10, 404)],
    ['a redirect', { kind: 'redirect', status: 302, to: 'https://b.example/' } as const],
  ])('is fetched again if the first answer was %s', async (_, answer) => {
    const { asked, get } = recordingCache(() => answer);
    await get('https://a.example/');
    await get('https://a.example/');
    expect(asked).toHaveLength(2);
  });
});

describe('the cached pages', () => {
  test('use limited memory: the least recently used page is dropped', async () => {
    const { asked, get } = recordingCache((address) => pageOf(address, 10_000), 35_000);
    for (const name of ['a', 'b', 'c', 'a', 'd']) await get(`https://${name}.example/`);
    expect(asked).toHaveLength(4);
    for (const name of ['a', 'c', 'd']) await get(`https://${name}.example/`);
    expect(asked).toHaveLength(4);
    await get('https://b.example/');
    expect(asked).toHaveLength(5);
  });

  test('do not include a page above the limit, and keep the others', async () => {
    const { asked, get } = recordingCache(
      (it) => pageOf(it, it.includes('big') ? 50_000 : 10),
      35_000,
    );
    for (const name of ['a', 'big', 'big', 'a']) await get(`https://${name}.example/`);
    expect(asked.map((it) => it.slice(8, 9))).toEqual(['a', 'b', 'b']);
  });

  test('are counted correctly after repeated fetches', async () => {
    const { asked, get, clock } = recordingCache((address) => pageOf(address, 10_000), 35_000);
    for (let round = 0; round < 10; round += 1) {
      for (const name of ['a', 'b', 'c']) await get(`https://${name}.example/`);
      await clock.advance(15 * 60_000);
    }
    expect(asked).toHaveLength(30);
    for (const name of ['a', 'b', 'c', 'a', 'b', 'c']) await get(`https://${name}.example/`);
    expect(asked).toHaveLength(33);
  });
});
