import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shapeDigest, shapeOf } from '../../../src/prompt/cache-miss/request-shape.js';
import { withDiagnostics } from '../../../src/prompt/request/request-body.js';
import { anyText } from '../../protocol/journal-records.js';
import { DEFAULT_HEAD, type HeadSpec, sentHead, tool } from '../request-shapes.js';

const shape = (spec: HeadSpec = {}) => shapeOf(sentHead(spec));
const read = (description: string) => ({ tools: [tool('Read', description)] });

/** Keys with different values. */
const changed = (spec: HeadSpec): readonly string[] => {
  const [before, after] = [shape(), shape(spec)];
  const names = Object.keys({ ...before, ...after });
  return names.filter((name) => before[name] !== after[name]).sort();
};

describe('the shape of a request (K11)', () => {
  test('is equal for equal requests', () => {
    expect(shape()).toEqual(shape());
    expect(changed({})).toEqual([]);
  });

  test.each<[string, HeadSpec, readonly string[]]>([
    ['the model', { settings: { model: 'm-2' } }, ['model']],
    ['the beta features', { betas: ['b-1'] }, ['betas']],
    ['the effort', { settings: { outputConfig: '{"effort":"high"}' } }, ['effort']],
    ['the thinking', { settings: { thinking: '{"type":"adaptive"}' } }, ['thinking']],
    [
      'the answer format',
      { settings: { outputConfig: '{"format":{"type":"json_schema"}}' } },
      ['answer format'],
    ],
    ['the lifetime of breakpoints', { ttl: '1h' }, ['marks', 'ttl']],
    ['the position of a breakpoint', { marked: 1 }, ['marks']],
    ['omitted breakpoints', { marks: false }, ['marks', 'ttl']],
    [
      'the description of a tool',
      { tools: [tool('Read', 'Reads!'), ...DEFAULT_HEAD.tools.slice(1)] },
      ['tool Read'],
    ],
    ['the order of the tools', { tools: [...DEFAULT_HEAD.tools].reverse() }, ['tools']],
    ['an added tool', { tools: [...DEFAULT_HEAD.tools, tool('Bash')] }, ['tool Bash', 'tools']],
    ['a removed tool', { tools: DEFAULT_HEAD.tools.slice(0, 2) }, ['tool Edit', 'tools']],
    [
      'a section',
      { sections: { ...DEFAULT_HEAD.sections, intro: 'You are a duck.' } },
      ['section intro', 'system block 1'],
    ],
    [
      'removed sections',
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
  ])('shows only a change of %s', (_, spec, names) => {
    expect(changed(spec)).toEqual(names);
  });

  test('ignores the maximum length of an answer', () => {
    expect(changed({ settings: { maxTokens: 5 } })).toEqual([]);
  });

  test('ignores the request for cache diagnostics', () => {
    const sent = sentHead();
    expect(shapeOf({ ...sent, head: withDiagnostics(sent.head, 'msg_1') })).toEqual(shape());
  });

  test('contains no long text, only digests', () => {
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

  test('is small enough for the journal', () => {
    const tools = Array.from({ length: 100 }, (_, n) => tool(`mcp__server__tool_${n}`));
    expect(JSON.stringify(shape({ tools })).length).toBeLessThan(10_000);
  });

  test('has a key for any name of a tool or section', () => {
    const tools = [tool('__proto__'), tool('constructor'), tool('toString')];
    expect(Object.keys(shape({ tools })).filter((name) => name.startsWith('tool '))).toEqual([
      'tool __proto__',
      'tool constructor',
      'tool toString',
    ]);
  });
});

describe('a digest (K14)', () => {
  test('changes with every character', () => {
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

  test('of a tool or section changes with every character', () => {
    fc.assert(
      fc.property(anyText, anyText, (first, second) => {
        const isSame = JSON.stringify(first) === JSON.stringify(second);
        const tools = [read(first), read(second)].map((spec) => shape(spec)['tool Read']);
        expect(tools[0] === tools[1]).toBe(isSame);
        const [before, after] = [first, second].map((text) => shape({ sections: { a: text } }));
        expect(before?.['system block 1'] === after?.['system block 1']).toBe(isSame);
      }),
    );
  });
});
