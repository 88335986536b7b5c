import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  firstDifference,
  isCacheBreak,
  requestDifferences,
} from '../../../src/prompt/cache-miss/request-difference.js';
import { shapeOf } from '../../../src/prompt/cache-miss/request-shape.js';
import { SAID, type Said, sentHead, tool } from '../request-shapes.js';

const known = (said: Said) => {
  const sent = sentHead(said);
  return { shape: shapeOf(sent), sent };
};

const between = (before: Said, now: Said) => requestDifferences(known(before), known(now));

describe('a drop in what is read (K12)', () => {
  test.each([
    ['of 2,001 tokens and far more than 5 % is a break', 10_000, 7_999, true],
    ['of exactly 2,000 tokens is none', 10_000, 8_000, false],
    ['of more than 5 % and few tokens is none', 3_000, 1_500, false],
    ['of exactly 5 % is none, however many tokens', 100_000, 95_000, false],
    ['of one token more than 5 % is a break', 100_000, 94_999, true],
    ['of more than 2,000 tokens but less than 5 % is none', 100_000, 97_000, false],
    ['to nothing is a break', 2_001, 0, true],
    ['to nothing, of what was hardly worth caching, is none', 2_000, 0, false],
    ['that is a rise is none', 10_000, 20_000, false],
    ['where nothing was cached is none', 0, 0, false],
  ])('%s', (_, cached, read, broke) => {
    expect(isCacheBreak(cached, read)).toBe(broke);
  });

  test('is a break only above both limits', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(1_000_000), (cached, read) => {
        const drop = cached - read;
        expect(isCacheBreak(cached, read)).toBe(drop > 2_000 && drop / cached > 0.05);
      }),
    );
  });
});

describe('two requests', () => {
  test('that are the same do not differ', () => {
    expect(between({}, {})).toEqual([]);
  });

  test.each<[string, Said, object]>([
    [
      'another model',
      { settings: { model: 'm-2' } },
      { cause: 'model', owner: 'model m-1 → m-2', byte: 2 },
    ],
    ['a beta feature more', { betas: ['b-1'] }, { cause: 'betas', owner: 'betas none → b-1' }],
    [
      'another effort',
      { settings: { outputConfig: '{"effort":"high"}' } },
      { cause: 'effort', owner: 'effort none → high' },
    ],
    [
      'another way to think',
      { settings: { thinking: '{"type":"adaptive"}' } },
      { cause: 'thinking', owner: 'thinking none → {"type":"adaptive"}' },
    ],
    [
      'another form of the answer',
      { settings: { outputConfig: '{"format":{"type":"json_schema"}}' } },
      { cause: 'settings' },
    ],
    ['another lifetime', { ttl: '1h' }, { cause: 'marks', owner: 'ttl 5m → 1h', byte: null }],
    ['a mark elsewhere', { marked: 1 }, { cause: 'marks', byte: null }],
    [
      'a tool that says something else',
      { tools: [tool('Read'), tool('Grep', 'Grep it!'), tool('Edit')] },
      { cause: 'tools', owner: 'tool Grep', change: 'changed', byte: 34 },
    ],
    [
      'a tool in between',
      { tools: [tool('Read'), tool('Bash'), tool('Grep'), tool('Edit')] },
      { cause: 'tools', owner: 'tool Bash', change: 'added', byte: 0 },
    ],
    [
      'a tool less',
      { tools: [tool('Read'), tool('Edit')] },
      { cause: 'tools', owner: 'tool Grep', change: 'removed', byte: 0 },
    ],
    ['no tools', { tools: [] }, { cause: 'tools', owner: 'tool Read', change: 'removed' }],
    [
      'tools in another order',
      { tools: [tool('Read'), tool('Edit'), tool('Grep')] },
      { cause: 'tools', owner: 'tool Edit', change: 'moved', byte: 0 },
    ],
    [
      'a section, counted in bytes',
      { sections: { ...SAID.sections, 'env info': 'You fly over Žďár!' } },
      { cause: 'system', owner: 'section env info', change: 'changed', byte: 20 },
    ],
    [
      'a section less',
      { sections: { 'env info': SAID.sections['env info'] } },
      { cause: 'system', owner: 'section intro', change: 'removed' },
    ],
  ])('differ in %s', (_, said, difference) => {
    expect(between({}, said)[0]).toMatchObject(difference);
  });

  test('differ in a block whose sections nobody knows', () => {
    const plain = (text: string) => ({ ...known({ sections: { a: text } }) });
    const [one, other] = [plain('Be a goose.'), plain('Be a duck.')].map(({ sent }) => {
      const bare = { ...sent, sections: [] };
      return { shape: shapeOf(bare), sent: bare };
    });
    if (one === undefined || other === undefined) throw new Error('two were made');
    expect(requestDifferences(one, other)[0]).toMatchObject({
      cause: 'system',
      owner: 'system block 1',
      change: 'changed',
    });
  });

  test('of which one has left only its digests differ at no byte that is known', () => {
    const { shape } = known({});
    const now = known({ tools: [tool('Read', 'Else.')] });
    expect(requestDifferences({ shape }, now)[0]).toMatchObject({ owner: 'tool Read', byte: null });
  });

  test('are compared by texts only as far as those are the ones that were sent', () => {
    const { shape } = known({});
    const { sent } = known({ tools: [tool('Read', 'Something else.')] });
    const now = known({ tools: [tool('Read', 'Else.'), ...SAID.tools.slice(1)] });
    expect(requestDifferences({ shape, sent }, now)[0]).toMatchObject({
      owner: 'tool Read',
      byte: null,
    });
  });

  test('name what comes first in a prompt first, and marks last', () => {
    const everything: Said = {
      betas: ['b'],
      ttl: '1h',
      tools: [],
      sections: { intro: 'x' },
      marked: 1,
      settings: { model: 'm-2', thinking: '{}', outputConfig: '{"effort":"low","format":{}}' },
    };
    expect(between({}, everything).map(({ cause }) => cause)).toEqual([
      'model',
      'betas',
      'tools',
      'system',
      'settings',
      'effort',
      'thinking',
      'marks',
    ]);
  });
});

describe('the first byte that differs', () => {
  test('is where two texts part, and the end of the shorter where they do not', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), fc.uint8Array(), (shared, one, other) => {
        const a = Buffer.concat([shared, one]);
        const b = Buffer.concat([shared, other]);
        const at = firstDifference(a, b);
        expect(a.subarray(0, at).equals(b.subarray(0, at))).toBe(true);
        expect(at >= Math.min(a.length, b.length) || a[at] !== b[at]).toBe(true);
      }),
    );
  });
});
