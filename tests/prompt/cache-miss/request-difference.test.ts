import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  firstDifference,
  isCacheBreak,
  requestDifferences,
} from '../../../src/prompt/cache-miss/request-difference.js';
import { shapeOf } from '../../../src/prompt/cache-miss/request-shape.js';
import { DEFAULT_HEAD, type HeadSpec, sentHead, tool } from '../request-shapes.js';

const known = (spec: HeadSpec) => {
  const sent = sentHead(spec);
  return { shape: shapeOf(sent), sent };
};

const between = (before: HeadSpec, now: HeadSpec) => requestDifferences(known(before), known(now));

describe('a drop of cached tokens (K12)', () => {
  test.each([
    ['of 2,001 tokens and far more than 5 % is a miss', 10_000, 7_999, true],
    ['of exactly 2,000 tokens is not a miss', 10_000, 8_000, false],
    ['of more than 5 % and few tokens is not a miss', 3_000, 1_500, false],
    ['of exactly 5 % is not a miss', 100_000, 95_000, false],
    ['of a token more than 5 % is a miss', 100_000, 94_999, true],
    ['of more than 2,000 tokens but less than 5 % is not a miss', 100_000, 97_000, false],
    ['to zero is a miss', 2_001, 0, true],
    ['to zero from 2,000 tokens is not a miss', 2_000, 0, false],
    ['that is a rise is not a miss', 10_000, 20_000, false],
    ['without cached tokens is not a miss', 0, 0, false],
  ])('%s', (_, cached, read, broke) => {
    expect(isCacheBreak(cached, read)).toBe(broke);
  });

  test('is a miss only above both limits', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(1_000_000), (cached, read) => {
        const drop = cached - read;
        expect(isCacheBreak(cached, read)).toBe(drop > 2_000 && drop / cached > 0.05);
      }),
    );
  });
});

describe('two requests', () => {
  test('do not differ if they are equal', () => {
    expect(between({}, {})).toEqual([]);
  });

  test.each<[string, HeadSpec, object]>([
    [
      'the model',
      { settings: { model: 'm-2' } },
      { cause: 'model', owner: 'model m-1 → m-2', byte: 2 },
    ],
    ['a beta feature', { betas: ['b-1'] }, { cause: 'betas', owner: 'betas none → b-1' }],
    [
      'the effort',
      { settings: { outputConfig: '{"effort":"high"}' } },
      { cause: 'effort', owner: 'effort none → high' },
    ],
    [
      'the thinking setting',
      { settings: { thinking: '{"type":"adaptive"}' } },
      { cause: 'thinking', owner: 'thinking none → {"type":"adaptive"}' },
    ],
    [
      'the answer format',
      { settings: { outputConfig: '{"format":{"type":"json_schema"}}' } },
      { cause: 'settings' },
    ],
    ['the lifetime', { ttl: '1h' }, { cause: 'marks', owner: 'ttl 5m → 1h', byte: null }],
    ['the position of a breakpoint', { marked: 1 }, { cause: 'marks', byte: null }],
    [
      'the description of a tool',
      { tools: [tool('Read'), tool('Grep', 'Grep it!'), tool('Edit')] },
      { cause: 'tools', owner: 'tool Grep', change: 'changed', byte: 34 },
    ],
    [
      'an added tool',
      { tools: [tool('Read'), tool('Bash'), tool('Grep'), tool('Edit')] },
      { cause: 'tools', owner: 'tool Bash', change: 'added', byte: 0 },
    ],
    [
      'a removed tool',
      { tools: [tool('Read'), tool('Edit')] },
      { cause: 'tools', owner: 'tool Grep', change: 'removed', byte: 0 },
    ],
    ['removed tools', { tools: [] }, { cause: 'tools', owner: 'tool Read', change: 'removed' }],
    [
      'the order of tools',
      { tools: [tool('Read'), tool('Edit'), tool('Grep')] },
      { cause: 'tools', owner: 'tool Edit', change: 'moved', byte: 0 },
    ],
    [
      'a section, with the position in bytes',
      { sections: { ...DEFAULT_HEAD.sections, 'env info': 'You fly over Žďár!' } },
      { cause: 'system', owner: 'section env info', change: 'changed', byte: 20 },
    ],
    [
      'a removed section',
      { sections: { 'env info': DEFAULT_HEAD.sections['env info'] } },
      { cause: 'system', owner: 'section intro', change: 'removed' },
    ],
  ])('differ in %s', (_, spec, difference) => {
    expect(between({}, spec)[0]).toMatchObject(difference);
  });

  test('differ in a block with unknown sections', () => {
    const plain = (text: string) => ({ ...known({ sections: { a: text } }) });
    const [before, now] = [plain('Be a goose.'), plain('Be a duck.')].map(({ sent }) => {
      const bare = { ...sent, sections: [] };
      return { shape: shapeOf(bare), sent: bare };
    });
    if (before === undefined || now === undefined) throw new Error('expected two requests');
    expect(requestDifferences(before, now)[0]).toMatchObject({
      cause: 'system',
      owner: 'system block 1',
      change: 'changed',
    });
  });

  test('differ at an unknown byte if only digests of the first are known', () => {
    const { shape } = known({});
    const now = known({ tools: [tool('Read', 'Else.')] });
    expect(requestDifferences({ shape }, now)[0]).toMatchObject({ owner: 'tool Read', byte: null });
  });

  test('are compared by text only if its digest is the sent digest', () => {
    const { shape } = known({});
    const { sent } = known({ tools: [tool('Read', 'Something else.')] });
    const now = known({ tools: [tool('Read', 'Else.'), ...DEFAULT_HEAD.tools.slice(1)] });
    expect(requestDifferences({ shape, sent }, now)[0]).toMatchObject({
      owner: 'tool Read',
      byte: null,
    });
  });

  test('list differences in the order of the prompt, breakpoints last', () => {
    const allChanges: HeadSpec = {
      betas: ['b'],
      ttl: '1h',
      tools: [],
      sections: { intro: 'x' },
      marked: 1,
      settings: { model: 'm-2', thinking: '{}', outputConfig: '{"effort":"low","format":{}}' },
    };
    expect(between({}, allChanges).map(({ cause }) => cause)).toEqual([
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

describe('the first different byte', () => {
  test('is where two texts diverge, or the end of the shorter text', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), fc.uint8Array(), (shared, first, second) => {
        const a = Buffer.concat([shared, first]);
        const b = Buffer.concat([shared, second]);
        const at = firstDifference(a, b);
        expect(a.subarray(0, at).equals(b.subarray(0, at))).toBe(true);
        expect(at >= Math.min(a.length, b.length) || a[at] !== b[at]).toBe(true);
      }),
    );
  });
});
