import { describe, expect, test } from 'vitest';
import type { PromptHead } from '../../../src/protocol/model/prompt-head.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import {
  agentWindowReport,
  newSessionWindowReport,
} from '../../../src/sdk/sessions/context-window-report.js';

const META = { id: 's_1', lead: 'a_1', model: 'claude-haiku-4-5' };
const at = { turn: 1, attempt: 1 };

const HEAD: PromptHead = {
  tools: JSON.stringify([{ name: 'Read', description: 'x'.repeat(380) }]),
  system: JSON.stringify([{ type: 'text', text: 'Be kind. You are at home.' }]),
  sections: [
    { name: 'manners', zone: 'static', source: 'skein', block: 0, start: 0, end: 8 },
    { name: 'place', zone: 'dynamic', source: 'skein', block: 0, start: 9, end: 25 },
  ],
  ttl: '5m',
};

const artifact = ({ tools, system, sections }: PromptHead, isOld = false): string =>
  JSON.stringify({
    tools: JSON.parse(tools) as unknown,
    system: JSON.parse(system) as unknown,
    ...(isOld ? {} : { sections }),
  });

const CREATED: JournalBody = {
  type: 'agent.created',
  agent: 'a_1',
  parent: null,
  cwd: '/work',
  model: META.model,
  prompt: 'prompt-1.json',
};
const LETTER: JournalBody = {
  type: 'letter.received',
  letter: 'l_1',
  from: 'user',
  raw: '[{"type":"text","text":"hello"}]',
};
const SENT: JournalBody = { type: 'user.sent', parts: [{ letter: 'l_1' }] };
const answered = (input: number): JournalBody => ({
  type: 'assistant.received',
  ...at,
  model: META.model,
  messageId: null,
  requestId: null,
  stopReason: 'end_turn',
  usage: { ...NO_USAGE, input },
  cost: 0,
  durationMs: 1,
  raw: '[{"type":"text","text":"Hello."}]',
});

/** A store with one journal and some artifacts. */
const storeOf = (bodies: readonly JournalBody[], artifacts: Readonly<Record<string, string>>) => ({
  async *records() {
    for (const [index, body] of bodies.entries()) {
      yield { v: 1, seq: index + 1, ts: 0, epoch: 1, ...body } as JournalRecord;
    }
  },
  async readArtifact(_: string, name: string) {
    const text = artifacts[name];
    if (text === undefined) throw new Error('ENOENT');
    return Buffer.from(text);
  },
});

describe('the window of a session', () => {
  const stored = { 'prompt-1.json': artifact(HEAD) };

  test('is the count of the last response, split by kind', async () => {
    const store = storeOf([CREATED, LETTER, SENT, answered(50_000)], stored);
    const report = await agentWindowReport(store, META);
    expect(report).toMatchObject({
      session: 's_1',
      agent: 'a_1',
      model: META.model,
      window: 200_000,
      usable: 180_000,
      warnAbove: 147_000,
      compactAbove: 167_000,
      usedTokens: 50_000,
      countedTokens: 50_000,
      freeTokens: 150_000,
      usedPercent: 25,
      messages: 2,
      turns: 1,
      notices: [],
    });
    expect(report.parts.map(({ kind }) => kind)).toEqual([
      'system',
      'tools',
      'memory',
      'messages',
      'results',
      'free',
    ]);
    expect(report.parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(200_000);
    expect(report.sections).toEqual([
      { name: 'manners', tokens: 2 },
      { name: 'place', tokens: 4 },
    ]);
    expect(report.tools).toEqual([{ name: 'Read', tokens: 103 }]);
  });

  test('is estimated before the first response', async () => {
    const report = await agentWindowReport(storeOf([CREATED, LETTER, SENT], stored), META);
    const { usedTokens, countedTokens, parts } = report;
    expect(countedTokens).toBe(0);
    expect(usedTokens).toBe(
      Math.ceil(
        (HEAD.tools.length +
          HEAD.system.length +
          '{"role":"user","content":[{"type":"text","text":"hello"}]}'.length) /
          4,
      ),
    );
    expect(parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(200_000);
  });

  test('is measured against the contextWindow setting', async () => {
    const report = await agentWindowReport(storeOf([CREATED], stored), META, undefined, 20_000);
    expect(report).toMatchObject({ window: 20_000, compactAbove: 16_700 });
  });

  test('uses the head of the last break', async () => {
    const later = artifact({ ...HEAD, tools: '[]', sections: [] });
    const broken: JournalBody = {
      type: 'prompt.broken',
      reason: 'section',
      section: 'place',
      prompt: 'prompt-2.json',
    };
    const store = storeOf([CREATED, broken], { ...stored, 'prompt-2.json': later });
    expect((await agentWindowReport(store, META)).tools).toEqual([]);
  });

  test('has no sections for a session of an old version', async () => {
    const store = storeOf([CREATED], { 'prompt-1.json': artifact(HEAD, true) });
    const report = await agentWindowReport(store, META);
    expect(report.sections).toEqual([]);
    expect(report.parts[0]).toMatchObject({ kind: 'system', estimatedTokens: 13 });
  });

  test.each([
    ['is missing', {}],
    ['is torn', { 'prompt-1.json': '{"tools":[' }],
    ['has invalid values', { 'prompt-1.json': '{"tools":7,"system":null}' }],
  ])('is shown without its head if that %s, with a notice', async (_, artifacts) => {
    const store = storeOf([CREATED, LETTER, SENT, answered(9_000)], artifacts);
    const report = await agentWindowReport(store, META);
    expect(report.notices).toEqual([expect.stringContaining('cannot be read')]);
    expect(report.usedTokens).toBe(9_000);
  });

  test('has no negative free space if the prompt is longer than the window', async () => {
    const store = storeOf([CREATED, LETTER, SENT, answered(250_000)], stored);
    const report = await agentWindowReport(store, META);
    expect(report).toMatchObject({ freeTokens: 0, usedPercent: 125 });
    expect(report.exceeded).toContainEqual({ kind: 'output', share: 30_000 });
  });
});

describe('the window of a new session', () => {
  test('has its head and its preamble, all estimated', () => {
    const opening = { text: 'House rules.', facts: {} };
    const report = newSessionWindowReport(META.model, HEAD, opening);
    expect(report).toMatchObject({ session: null, countedTokens: 0, messages: 0 });
    const tokens = Object.fromEntries(
      report.parts.map((part) => [part.kind, part.estimatedTokens]),
    );
    expect(tokens).toEqual({
      system: 13,
      tools: 104,
      memory: 10,
      messages: 0,
      results: 0,
      free: null,
    });
  });

  test('has no memory if there is no preamble', () => {
    const { parts } = newSessionWindowReport(META.model, HEAD, { text: '', facts: {} });
    expect(parts.find(({ kind }) => kind === 'memory')?.tokens).toBe(0);
  });
});
