import { describe, expect, test } from 'vitest';
import { explainMiss, type MissFacts } from '../../../src/prompt/cache-miss/explain-miss.js';
import {
  digestChange,
  type MessageChange,
  messageChange,
} from '../../../src/prompt/cache-miss/message-change.js';
import { shapeDigest, shapeOf } from '../../../src/prompt/cache-miss/request-shape.js';
import { DEFAULT_HEAD, type HeadSpec, sentHead, tool } from '../request-shapes.js';

const MINUTE = 60_000;

const known = (spec: HeadSpec) => {
  const sent = sentHead(spec);
  return { shape: shapeOf(sent), sent };
};

const explain = (facts: Partial<MissFacts> & { was?: HeadSpec; is?: HeadSpec }) =>
  explainMiss({
    before: known(facts.was ?? {}),
    now: known(facts.is ?? {}),
    message: undefined,
    declared: [],
    idleMs: 1_000,
    ...facts,
  });

const rewritten: MessageChange = { index: 2, change: 'changed', byte: 57, byteInAll: 1_057 };
const compacted = { reason: 'compaction', section: 'messages' } as const;

describe('the explanation of a cache miss', () => {
  test('names the change in a sentence', () => {
    expect(
      explain({ is: { tools: [tool('Read', 'Else.'), ...DEFAULT_HEAD.tools.slice(1)] } }),
    ).toEqual({
      cause: 'tools',
      expected: false,
      owner: 'tool Read',
      change: 'changed',
      byte: 30,
      detail: 'Tool Read has changed at its byte 30.',
    });
  });

  test('names a rewritten message', () => {
    expect(explain({ message: rewritten })).toEqual({
      cause: 'messages',
      expected: false,
      owner: 'message 3',
      change: 'changed',
      byte: 57,
      detail: 'Message 3 has changed at its byte 57.',
    });
  });

  test('names the first of several changes and mentions the others', () => {
    const is = { ttl: '1h', settings: { outputConfig: '{"effort":"low"}' } } as const;
    expect(explain({ is, message: rewritten })).toMatchObject({
      cause: 'effort',
      detail: 'The request changed: effort none → low (also changed: message 3, ttl 5m → 1h).',
    });
  });

  test('names a declared break, which is expected', () => {
    expect(explain({ declared: [compacted], message: { ...rewritten, index: 0 } })).toEqual({
      cause: 'compaction',
      expected: true,
      owner: 'messages',
      change: 'changed',
      byte: 1_057,
      detail: 'The conversation was summarised.',
    });
  });

  test.each([
    ['compaction', 'messages'],
    ['truncation', 'messages'],
    ['clear', 'messages'],
    ['model', 'model a → b'],
    ['section', 'env info'],
  ] as const)('names a declared %s if a resume has lost the earlier request', (reason, section) => {
    expect(explain({ declared: [{ reason, section }] })).toMatchObject({
      cause: reason,
      expected: true,
      owner: section,
      byte: null,
    });
  });

  test('names a section whose change was declared, with its first byte', () => {
    const is = { sections: { ...DEFAULT_HEAD.sections, 'env info': 'You walk.' } };
    const declared = [{ reason: 'section', section: 'env info' } as const];
    expect(explain({ is, declared })).toMatchObject({
      cause: 'section',
      expected: true,
      owner: 'section env info',
      byte: 4,
    });
  });

  test('names a section that may change, with its reason (P8)', () => {
    const withReason = (spec: HeadSpec) => {
      const { shape, sent } = known(spec);
      const sections = sent.sections.map((section) =>
        section.name === 'env info' ? { ...section, mayChange: 'geese come and go' } : section,
      );
      return { shape, sent: { ...sent, sections } };
    };
    const detailOf = (before: HeadSpec, now: HeadSpec) =>
      explain({
        before: withReason(before),
        now: withReason(now),
        declared: [{ reason: 'section', section: 'env info' }],
      }).detail;
    const without = { sections: { intro: DEFAULT_HEAD.sections.intro } };
    const words = 'A section of the system prompt has changed: geese come and go.';
    expect(detailOf({}, { sections: { ...DEFAULT_HEAD.sections, 'env info': 'x' } })).toBe(words);
    expect([detailOf(without, {}), detailOf({}, without)]).toEqual([words, words]);
    expect(detailOf({}, { sections: { ...DEFAULT_HEAD.sections, intro: 'x' } })).not.toContain(
      'geese',
    );
  });

  test('names an undeclared change despite a declared break', () => {
    const is = { tools: [tool('Read', 'Else.'), ...DEFAULT_HEAD.tools.slice(1)] };
    expect(explain({ is, declared: [compacted], message: rewritten })).toMatchObject({
      cause: 'tools',
      expected: false,
      owner: 'tool Read',
    });
    const effortChange = { settings: { outputConfig: '{"effort":"low"}' } };
    expect(explain({ is: effortChange, declared: [compacted] })).toMatchObject({
      cause: 'effort',
      expected: false,
    });
  });

  const CHANGES = {
    model: { settings: { model: 'm-2' } },
    betas: { betas: ['b'] },
    tools: { tools: [] },
    system: {
      sections: { intro: 'You are a duck.', 'env info': DEFAULT_HEAD.sections['env info'] },
    },
    settings: { settings: { outputConfig: '{"format":{}}' } },
    effort: { settings: { outputConfig: '{"effort":"low"}' } },
    thinking: { settings: { thinking: '{}' } },
    marks: { ttl: '1h' },
  } as const satisfies Record<string, HeadSpec>;

  test.each([
    ['compaction', ['system', 'marks']],
    ['clear', ['system', 'marks']],
    ['truncation', []],
    ['model', ['model', 'betas', 'system', 'settings', 'effort', 'thinking', 'marks']],
    ['section', ['tools', 'system', 'marks']],
  ] as const)('expects only the changes that a declared %s causes', (reason, answered) => {
    const expected = Object.entries(CHANGES).flatMap(([name, is]) => {
      const found = explain({ is, declared: [{ reason, section: 'x' }] });
      return found.expected ? [name] : [];
    });
    expect(expected.sort()).toEqual([...answered].sort());
  });

  test('names the declared break that causes the change', () => {
    const declared = [{ reason: 'section', section: 'intro' } as const, compacted];
    const found = [
      explain({ is: CHANGES.tools, declared }),
      explain({ message: rewritten, declared }),
    ];
    expect(found.map(({ cause, expected }) => [cause, expected])).toEqual([
      ['section', true],
      ['compaction', true],
    ]);
  });

  test('names the declared model with all its consequences', () => {
    const is = { settings: { model: 'm-2', thinking: '{}' }, betas: ['b'] };
    const declared = [{ reason: 'model', section: 'model m-1 → m-2' } as const];
    expect(explain({ is, declared })).toMatchObject({
      cause: 'model',
      expected: true,
      owner: 'model m-1 → m-2',
      byte: 2,
    });
  });

  test.each([
    ['5m', 5 * MINUTE, 'server'],
    ['5m', 5 * MINUTE + 1, 'expired'],
    ['1h', 60 * MINUTE, 'server'],
    ['1h', 60 * MINUTE + 1, 'expired'],
  ] as const)(
    'names the expired lifetime or the server without a change: %s after %i ms is %s',
    (ttl, idleMs, cause) => {
      expect(explain({ was: { ttl }, is: { ttl }, idleMs })).toMatchObject({
        cause,
        expected: false,
        byte: null,
      });
    },
  );

  test('names the server if the idle time is unknown', () => {
    expect(explain({ idleMs: null })).toMatchObject({ cause: 'server', owner: 'server' });
  });
});

const text = (content: string) => Buffer.from(`{"role":"user","content":"${content}"}`);

describe('the first changed message', () => {
  const sent = [text('one'), text('two'), text('three')];

  test('does not exist if the conversation only grew', () => {
    expect(messageChange(sent, [...sent, text('four')])).toBeUndefined();
    expect(
      messageChange(
        sent,
        sent.map((bytes) => Buffer.from(bytes)),
      ),
    ).toBeUndefined();
    expect(digestChange(sent.map(shapeDigest), [...sent, text('four')])).toBeUndefined();
  });

  test('has the byte in the message and in all messages', () => {
    const byte = '{"role":"user","content":"t'.length;
    expect(messageChange(sent, [text('one'), text('tWo'), text('three')])).toEqual({
      index: 1,
      change: 'changed',
      byte,
      byteInAll: text('one').length + 1 + byte,
    });
  });

  test('is found by digest without a byte', () => {
    expect(digestChange(sent.map(shapeDigest), [text('one'), text('tWo')])).toEqual({
      index: 1,
      change: 'changed',
      byte: null,
      byteInAll: null,
    });
  });

  test('may be a removed message', () => {
    expect(messageChange(sent, sent.slice(0, 2))).toMatchObject({ index: 2, change: 'removed' });
    expect(digestChange(sent.map(shapeDigest), [])).toMatchObject({ index: 0, change: 'removed' });
  });

  test('is found without reading the bytes of equal messages', () => {
    const untouchable = sent.map((bytes) => new Proxy(bytes, { get: () => refuse() }));
    expect(messageChange(untouchable.slice(0, 0), untouchable)).toBeUndefined();
    const lengthOnly = sent.map(
      (bytes) => new Proxy(bytes, { get: (of, key) => (key === 'length' ? of.length : refuse()) }),
    );
    expect(messageChange(lengthOnly, lengthOnly)).toBeUndefined();
  });
});

const refuse = (): never => {
  throw new Error('must not read this message');
};
