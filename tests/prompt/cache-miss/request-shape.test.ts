import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shapeDigest, shapeOf } from '../../../src/prompt/cache-miss/request-shape.js';
import { withDiagnostics } from '../../../src/prompt/request/request-body.js';
import { anyText } from '../../protocol/journal-records.js';
import { SAID, type Said, sentHead, tool } from '../request-shapes.js';

const shape = (said: Said = {}) => shapeOf(sentHead(said));
const read = (description: string) => ({ tools: [tool('Read', description)] });

/** Keys whose values differ. */
const changed = (said: Said): readonly string[] => {
  const [before, after] = [shape(), shape(said)];
  const names = Object.keys({ ...before, ...after });
  return names.filter((name) => before[name] !== after[name]).sort();
};

describe('the shape of a request (K11)', () => {
  test('is the same for the same request', () => {
    expect(shape()).toEqual(shape());
    expect(changed({})).toEqual([]);
  });

  test.each<[string, Said, readonly string[]]>([
    ['the model', { settings: { model: 'm-2' } }, ['model']],
    ['the beta features', { betas: ['b-1'] }, ['betas']],
    ['the effort', { settings: { outputConfig: '{"effort":"high"}' } }, ['effort']],
    ['the thinking', { settings: { thinking: '{"type":"adaptive"}' } }, ['thinking']],
    [
      'the form of the answer',
      { settings: { outputConfig: '{"format":{"type":"json_schema"}}' } },
      ['answer format'],
    ],
    ['the lifetime of the marks', { ttl: '1h' }, ['marks', 'ttl']],
    ['the place of a mark', { marked: 1 }, ['marks']],
    ['marks that are left out', { marks: false }, ['marks', 'ttl']],
    [
      'the description of a tool',
      { tools: [tool('Read', 'Reads!'), ...SAID.tools.slice(1)] },
      ['tool Read'],
    ],
    ['the order of the tools', { tools: [...SAID.tools].reverse() }, ['tools']],
    ['a tool more', { tools: [...SAID.tools, tool('Bash')] }, ['tool Bash', 'tools']],
    ['a tool less', { tools: SAID.tools.slice(0, 2) }, ['tool Edit', 'tools']],
    [
      'a section',
      { sections: { ...SAID.sections, intro: 'You are a duck.' } },
      ['section intro', 'system block 1'],
    ],
    [
      'no section',
      { sections: {} },
      [
        'marks',
        'section env info',
        'section intro',
        'sections',
        'system',
        'system block 1',
        'system block 2',
      ],
    ],
  ])('shows a change of %s, and of nothing else', (_, said, names) => {
    expect(changed(said)).toEqual(names);
  });

  test('does not look at how long an answer may be', () => {
    expect(changed({ settings: { maxTokens: 5 } })).toEqual([]);
  });

  test('does not look at a question about the cache', () => {
    const sent = sentHead();
    expect(shapeOf({ ...sent, head: withDiagnostics(sent.head, 'msg_1') })).toEqual(shape());
  });

  test('keeps no text: what is long is a digest', () => {
    const long = 'a secret plan '.repeat(50);
    const values = Object.values(
      shape({
        sections: { plan: long },
        tools: [tool('Read', long)],
        betas: [long],
        settings: { thinking: JSON.stringify({ type: long }) },
      }),
    );
    expect(values.join()).not.toContain('secret plan');
  });

  test('is small enough to be written down', () => {
    const tools = Array.from({ length: 100 }, (_, n) => tool(`mcp__server__tool_${n}`));
    expect(JSON.stringify(shape({ tools })).length).toBeLessThan(10_000);
  });

  test('has room for every name that a tool or a section may have', () => {
    const tools = [tool('__proto__'), tool('constructor'), tool('toString')];
    expect(Object.keys(shape({ tools })).filter((name) => name.startsWith('tool '))).toEqual([
      'tool __proto__',
      'tool constructor',
      'tool toString',
    ]);
  });
});

describe('a digest (K14)', () => {
  test('is another as soon as one character is', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (text, at, by) => {
        const index = at % (text.length + 1);
        const other = text.slice(0, index) + by + text.slice(index + 1);
        expect(shapeDigest(other) === shapeDigest(text)).toBe(
          Buffer.from(other).equals(Buffer.from(text)),
        );
      }),
    );
  });

  test('of a tool and of a section follows every character of them', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        const tools = [read(one), read(other)].map((said) => shape(said)['tool Read']);
        expect(tools[0] === tools[1]).toBe(isSame);
        const [before, after] = [one, other].map((text) => shape({ sections: { a: text } }));
        expect(before?.['system block 1'] === after?.['system block 1']).toBe(isSame);
      }),
    );
  });
});
