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

/** A breakpoint has no other keys. */
const breakpoint = z.strictObject({
  type: z.literal('ephemeral'),
  ttl: z.literal('1h').optional(),
  scope: z.literal('global').optional(),
});

/** A provider with all capabilities. */
const ALL_CAPABILITIES: Capabilities = {
  ...capabilitiesOf('firstParty'),
  scopes: ['global', 'org'],
};

const everyBreakpoint = [...PROVIDERS.map(capabilitiesOf), ALL_CAPABILITIES].flatMap(
  (capabilities) =>
    TTLS.flatMap((ttl) =>
      SCOPES.map((scope) => ({
        capabilities,
        ttl,
        scope,
        text: cacheControl(capabilities, ttl, scope),
      })),
    ),
);

describe('a cache breakpoint', () => {
  test('has the only valid shape (K5)', () => {
    const breakpoints = everyBreakpoint.flatMap(({ text }) => text ?? []);
    expect(breakpoints.length).toBeGreaterThan(0);
    for (const text of breakpoints) {
      expect(breakpoint.safeParse(JSON.parse(text)).error).toBeUndefined();
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
    }
  });

  test('contains only values that differ from the server defaults', () => {
    expect(cacheControl(ALL_CAPABILITIES, '5m', null)).toBe('{"type":"ephemeral"}');
    expect(cacheControl(ALL_CAPABILITIES, '5m', 'org')).toBe('{"type":"ephemeral"}');
    expect(cacheControl(ALL_CAPABILITIES, '1h', null)).toBe('{"type":"ephemeral","ttl":"1h"}');
    expect(cacheControl(ALL_CAPABILITIES, '5m', 'global')).toBe(
      '{"type":"ephemeral","scope":"global"}',
    );
    expect(cacheControl(ALL_CAPABILITIES, '1h', 'global')).toBe(
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
  ])('for %s has the supported values, without a scope (K1)', (provider, minutes, hour) => {
    const capabilities = capabilitiesOf(provider);
    for (const scope of SCOPES) {
      expect(cacheControl(capabilities, '5m', scope)).toBe(minutes);
      expect(cacheControl(capabilities, '1h', scope)).toBe(hour);
    }
  });

  test('has no one-hour lifetime without support', () => {
    const short: Capabilities = { ...ALL_CAPABILITIES, ttls: ['5m'] };
    expect(cacheControl(short, '1h', null)).toBe('{"type":"ephemeral"}');
  });

  test('is defined for every provider', () => {
    expect(PROVIDERS).toHaveLength(7);
  });
});
