import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CacheTtlFacts, cacheTtl } from '../../../src/prompt/request/cache-ttl.js';
import { capabilitiesOf, PROVIDERS } from '../../../src/protocol/model/providers.js';

/** Everything speaks for an hour. */
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
    ['a source that begins like one with a star', { querySource: 'agent:explore' }, '1h'],
    ['a source that is all of one with a star', { querySource: 'agent:' }, '1h'],
    ['a source that only ends like one with a star', { querySource: 'my-agent:' }, '5m'],
    ['a source that is longer than one on the list', { querySource: 'repl2' }, '5m'],
    ['a source that is on no list', { querySource: 'print' }, '5m'],
    ['any source where a star stands alone', { querySource: 'x', hourFor: ['*'] }, '1h'],
    ['a star that is not at the end', { querySource: 'axb', hourFor: ['a*b'] }, '5m'],
    ['an empty list', { hourFor: [] }, '5m'],
    ['an empty word on the list', { hourFor: [''] }, '5m'],
    ['an account that pays nothing', { isPaid: false }, '5m'],
    ['an account that is over its quota', { isInOverage: true }, '5m'],
    ['Bedrock with its switch on', { provider: 'bedrock', bedrockHour: true, hourFor: [] }, '1h'],
    [
      'Bedrock with its switch on, whatever the account',
      { provider: 'bedrock', bedrockHour: true, isPaid: false, isInOverage: true },
      '1h',
    ],
    ['Bedrock with its switch off', { provider: 'bedrock', hourFor: [] }, '5m'],
    ['Bedrock with a source on the list', { provider: 'bedrock' }, '1h'],
    ['the switch of Bedrock elsewhere', { bedrockHour: true, hourFor: [] }, '5m'],
    ['a provider without hours', { provider: 'openai', bedrockHour: true }, '5m'],
  ])('of %s', (_, facts, wanted) => {
    expect(cacheTtl({ ...GOOD, ...facts })).toBe(wanted);
  });

  test('is never one that the provider does not offer', () => {
    const facts = fc.record<CacheTtlFacts>({
      provider: fc.constantFrom(...PROVIDERS),
      bedrockHour: fc.boolean(),
      querySource: fc.string(),
      hourFor: fc.array(fc.constantFrom('*', 'a*', 'a')),
      isPaid: fc.boolean(),
      isInOverage: fc.boolean(),
    });
    fc.assert(
      fc.property(facts, (one) => {
        expect(capabilitiesOf(one.provider).ttls).toContain(cacheTtl(one));
      }),
    );
  });
});
