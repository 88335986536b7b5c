import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cacheControl } from '../../../src/prompt/request/cache-control.js';
import type { CacheTtl } from '../../../src/protocol/model/prompt-head.js';
import {
  type CacheScope,
  type Capabilities,
  capabilitiesOf,
  PROVIDERS,
  type ProviderName,
} from '../../../src/protocol/model/providers.js';

const TTLS: readonly CacheTtl[] = ['5m', '1h'];
const SCOPES: readonly CacheScope[] = ['global', 'org', null];

/** Nothing else may stand in a mark. */
const mark = z.strictObject({
  type: z.literal('ephemeral'),
  ttl: z.literal('1h').optional(),
  scope: z.literal('global').optional(),
});

/** A provider that takes whatever there is. */
const GENEROUS: Capabilities = { ...capabilitiesOf('firstParty'), scopes: ['global', 'org'] };

const everyMark = [...PROVIDERS.map(capabilitiesOf), GENEROUS].flatMap((capabilities) =>
  TTLS.flatMap((ttl) =>
    SCOPES.map((scope) => ({
      capabilities,
      ttl,
      scope,
      text: cacheControl(capabilities, ttl, scope),
    })),
  ),
);

describe('a cache mark', () => {
  test('has the one shape there is (K5)', () => {
    const marks = everyMark.flatMap(({ text }) => text ?? []);
    expect(marks.length).toBeGreaterThan(0);
    for (const text of marks) {
      expect(mark.safeParse(JSON.parse(text)).error).toBeUndefined();
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
    }
  });

  test('says what differs from what the server assumes', () => {
    expect(cacheControl(GENEROUS, '5m', null)).toBe('{"type":"ephemeral"}');
    expect(cacheControl(GENEROUS, '5m', 'org')).toBe('{"type":"ephemeral"}');
    expect(cacheControl(GENEROUS, '1h', null)).toBe('{"type":"ephemeral","ttl":"1h"}');
    expect(cacheControl(GENEROUS, '5m', 'global')).toBe('{"type":"ephemeral","scope":"global"}');
    expect(cacheControl(GENEROUS, '1h', 'global')).toBe(
      '{"type":"ephemeral","ttl":"1h","scope":"global"}',
    );
  });

  test.each<readonly [ProviderName, string | null, string | null]>([
    ['firstParty', '{"type":"ephemeral"}', '{"type":"ephemeral","ttl":"1h"}'],
    ['bedrock', '{"type":"ephemeral"}', '{"type":"ephemeral","ttl":"1h"}'],
    ['vertex', '{"type":"ephemeral"}', '{"type":"ephemeral","ttl":"1h"}'],
    ['foundry', '{"type":"ephemeral"}', '{"type":"ephemeral","ttl":"1h"}'],
    ['openai', null, null],
    ['gemini', null, null],
    ['grok', null, null],
  ])('for %s is what it takes, with no scope named (K1)', (provider, minutes, hour) => {
    const capabilities = capabilitiesOf(provider);
    for (const scope of SCOPES) {
      expect(cacheControl(capabilities, '5m', scope)).toBe(minutes);
      expect(cacheControl(capabilities, '1h', scope)).toBe(hour);
    }
  });

  test('asks for no hour where there is none', () => {
    const short: Capabilities = { ...GENEROUS, ttls: ['5m'] };
    expect(cacheControl(short, '1h', null)).toBe('{"type":"ephemeral"}');
  });

  test('is known for every provider', () => {
    expect(PROVIDERS).toHaveLength(7);
  });
});
