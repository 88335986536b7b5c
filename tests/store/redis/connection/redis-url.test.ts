import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/protocol/skein-error.js';
import { maskedRedisUrl, parseRedisUrl } from '../../../../src/store/redis/connection/redis-url.js';

/** The masked address, or the error message. */
const shownFor = (url: string): string => {
  try {
    return maskedRedisUrl(parseRedisUrl(url));
  } catch (error) {
    return error instanceof UsageError ? error.message : 'a defect';
  }
};

describe('a Redis URL', () => {
  test.each([
    ['redis://host', { kind: 'single', tls: false, node: { host: 'host', port: 6379 } }],
    ['redis://', { kind: 'single', tls: false, node: { host: '127.0.0.1', port: 6379 } }],
    [
      'rediss://host:7000/2',
      { kind: 'single', tls: true, node: { host: 'host', port: 7000 }, db: 2 },
    ],
    ['redis://[::1]:7000', { kind: 'single', tls: false, node: { host: '::1', port: 7000 } }],
    [
      'redis://me:se%40cret@host',
      {
        kind: 'single',
        tls: false,
        node: { host: 'host', port: 6379 },
        username: 'me',
        password: 'se@cret',
      },
    ],
    [
      'redis://:a:b@host',
      { kind: 'single', tls: false, node: { host: 'host', port: 6379 }, password: 'a:b' },
    ],
    ['unix:///run/a@b.sock', { kind: 'socket', tls: false, path: '/run/a@b.sock' }],
    ['unix:///run/redis.sock', { kind: 'socket', tls: false, path: '/run/redis.sock' }],
    [
      'unix://:hush@/run/a%20b.sock?db=3',
      { kind: 'socket', tls: false, path: '/run/a b.sock', password: 'hush', db: 3 },
    ],
    [
      'redis+sentinel://:hush@a,b:7/main/1?sentinelPassword=other',
      {
        kind: 'sentinel',
        tls: false,
        master: 'main',
        db: 1,
        password: 'hush',
        nodes: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 7 },
        ],
        sentinelPassword: 'other',
      },
    ],
    [
      'rediss+cluster://a:7000,b:7001',
      {
        kind: 'cluster',
        tls: true,
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
        ],
      },
    ],
  ])('is parsed: %s', (url, address) => {
    expect(parseRedisUrl(url)).toEqual(address);
  });

  test.each([
    ['', 'its scheme is unknown'],
    ['host:6379', 'its scheme is unknown'],
    ['http://host', 'its scheme is unknown'],
    ['redis+sentinel://a:1', 'the name of the master is missing'],
    ['redis://a,b', 'several hosts need'],
    ['redis://host:70000', 'a host or a port in it cannot be read'],
    ['redis://host:x', 'a host or a port in it cannot be read'],
    ['redis://a:b:c', 'a host or a port in it cannot be read'],
    ['redis://host/one', 'the database after the host is not a number'],
    ['redis://host/-1', 'the database after the host is not a number'],
    ['redis://:%zz@host', 'it has an invalid % escape'],
    ['redis://:se@cret@host', 'is written as %40'],
    ['redis+sentinel://:1/cret@host/main', 'is written as %40'],
    ['unix://:se@/cret@/run/redis.sock', 'is written as %40'],
    ['unix://', 'the path of the socket is missing'],
    ['unix://run/redis.sock', 'a socket has no host'],
  ])('that is invalid is refused with the reason: %s', (url, why) => {
    expect(() => parseRedisUrl(url)).toThrow(why);
    expect(() => parseRedisUrl(url)).toThrow(/^This is not an address of Redis/);
  });

  test('never shows its password, with any characters and encoding', () => {
    // QQ is in no other part of an address, so a match means that the password was shown.
    const secret = fc
      .string({
        unit: fc.constantFrom(...'X Y Z @ / ? : % # & = " \\ é \n'.split(' '), ' '),
        minLength: 3,
        maxLength: 12,
      })
      .map((text) => `QQ${text}QQ`);
    const scheme = fc.constantFrom(
      'redis',
      'rediss',
      'unix',
      'redis+sentinel',
      'rediss+cluster',
      'mysql',
      '',
    );
    const rest = fc.constantFrom(
      'host',
      'host:1/2',
      '/run/sock',
      'a:1,b:2/main',
      '[::1]',
      ':x',
      '',
    );
    const login = fc.constantFrom('', 'me');
    const written = fc.constantFrom(encodeURIComponent, (text: string) => text);
    fc.assert(
      fc.property(scheme, login, secret, written, rest, (kind, name, hidden, write, place) => {
        const url = `${kind}://${name}:${write(hidden)}@${place}`;
        expect(shownFor(url)).not.toContain('QQ');
      }),
    );
  });

  test('is parsed without a defect for any text, also for a very long text', () => {
    fc.assert(
      fc.property(fc.string(), (rest) => {
        for (const scheme of ['redis://', 'unix://', 'redis+sentinel://', 'redis+cluster://']) {
          expect(shownFor(`${scheme}${rest}`)).not.toContain('defect');
        }
      }),
    );
    const long = `redis://${':@,/'.repeat(50_000)}`;
    expect(() => parseRedisUrl(long)).toThrow(/^This is not an address of Redis/);
  });
});
