import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CacheTtlFacts, cacheTtl } from '../../../src/prompt/request/cache-ttl.js';
import { capabilitiesOf, PROVIDERS } from '../../../src/protocol/model/providers.js';

/** All facts allow a lifetime of one hour. */
const GOOD: CacheTtlFacts = {
  provider: 'firstParty',
  bedrockHour: false,
  querySource: 'repl',
  hourFor: ['repl', 'agent:*'],
  isPaid: true,
  isInOverage: false,
};

describe('the lifetime of a cached prompt (K6)', () => {
  test.each<readonly [string, Partial<CacheTtlFacts>, '5m' | '1h']>([
    ['a source on the list', {}, '1h'],
    ['a source that matches a pattern with a star', { querySource: 'agent:explore' }, '1h'],
    ['a source equal to the pattern before its star', { querySource: 'agent:' }, '1h'],
    ['a source that only ends like a pattern with a star', { querySource: 'my-agent:' }, '5m'],
    ['a source longer than an entry of the list', { querySource: 'repl2' }, '5m'],
    ['a source that is not on the list', { querySource: 'print' }, '5m'],
    ['any source with a single star as pattern', { querySource: 'x', hourFor: ['*'] }, '1h'],
    ['a star that is not at the end', { querySource: 'axb', hourFor: ['a*b'] }, '5m'],
    ['an empty list', { hourFor: [] }, '5m'],
    ['an empty entry of the list', { hourFor: [''] }, '5m'],
    ['an unpaid account', { isPaid: false }, '5m'],
    ['an account above its quota', { isInOverage: true }, '5m'],
    ['Bedrock with its setting', { provider: 'bedrock', bedrockHour: true, hourFor: [] }, '1h'],
    [
      'Bedrock with its setting and an unpaid account',
      { provider: 'bedrock', bedrockHour: true, isPaid: false, isInOverage: true },
      '1h',
    ],
    ['Bedrock without its setting', { provider: 'bedrock', hourFor: [] }, '5m'],
    ['Bedrock with a source on the list', { provider: 'bedrock' }, '1h'],
    ['another provider with the setting of Bedrock', { bedrockHour: true, hourFor: [] }, '5m'],
    ['a provider without one-hour caching', { provider: 'openai', bedrockHour: true }, '5m'],
  ])('with %s', (_, facts, expected) => {
    expect(cacheTtl({ ...GOOD, ...facts })).toBe(expected);
  });

  test('is always supported by the provider', () => {
    const anyFacts = fc.record<CacheTtlFacts>({
      provider: fc.constantFrom(...PROVIDERS),
      bedrockHour: fc.boolean(),
      querySource: fc.string(),
      hourFor: fc.array(fc.constantFrom('*', 'a*', 'a')),
      isPaid: fc.boolean(),
      isInOverage: fc.boolean(),
    });
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(capabilitiesOf(facts.provider).ttls).toContain(cacheTtl(facts));
      }),
    );
  });
});
