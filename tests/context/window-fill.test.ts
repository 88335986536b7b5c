import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { windowThresholds } from '../../src/context/window/window-thresholds.js';
import {
  budgetSplit,
  exceededShares,
  FILL_KINDS,
  type FillWeights,
  WindowFold,
  windowFill,
} from '../../src/context/window-fill.js';
import { NO_USAGE } from '../../src/protocol/model/usage.js';
import type { JournalBody, JournalRecord } from '../../src/protocol/session/journal-record.js';
import { anyJournal } from '../protocol/journal-records.js';

const THRESHOLDS = windowThresholds('claude-haiku-4-5');
const at = { turn: 1, attempt: 1 };

/** Folds the given records. */
const foldOf = (...bodies: readonly JournalBody[]): WindowFold => {
  const fold = new WindowFold();
  for (const [index, body] of bodies.entries()) {
    fold.apply({ v: 1, seq: index + 1, ts: 0, epoch: 1, ...body } as JournalRecord);
  }
  return fold;
};

const block = (text: string) => ({ type: 'text', text });
const size = (value: unknown) => JSON.stringify(value).length;

const prompt: JournalBody = {
  type: 'letter.received',
  letter: 'l_1',
  from: 'user',
  raw: JSON.stringify([block('Look at it.')]),
};
const opening: JournalBody = {
  type: 'user.sent',
  parts: [{ briefing: 'Rules of the house.', facts: {} }, { letter: 'l_1' }],
};
const toolUse: JournalBody = {
  type: 'assistant.received',
  ...at,
  model: 'm',
  messageId: null,
  requestId: null,
  stopReason: 'tool_use',
  usage: NO_USAGE,
  cost: 0,
  durationMs: 1,
  raw: JSON.stringify([{ type: 'tool_use', id: 'c_1', name: 'Read', input: {} }]),
};
const RESULT = { type: 'tool_result', tool_use_id: 'c_1', content: 'x'.repeat(400) };
const result: JournalBody = {
  type: 'call.ended',
  ...at,
  call: 'c_1',
  tool: 'Read',
  outcome: 'ok',
  durationMs: 1,
  raw: JSON.stringify(RESULT),
};
const toolResults: JournalBody = {
  type: 'user.sent',
  parts: [{ call: 'c_1' }, { reminder: 'date', value: '2', text: 'Another day.' }],
};

describe('the messages of a window', () => {
  test('are split into memory, tool results and other messages', () => {
    const fold = foldOf(prompt, opening, toolUse, result, toolResults);
    const { memory, results, messages } = fold.weights();
    expect(memory).toBe(size(block('Rules of the house.')) + size(block('Another day.')));
    expect(results).toBe(size(RESULT));
    const all = fold.history.messages.reduce((sum, { weight }) => sum + weight, 0);
    expect(memory + results + messages).toBe(all);
  });

  test('count an image in a result by its token cost, not by its bytes', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) };
    const picture = { ...RESULT, content: [{ type: 'image', source }] };
    const withImage = { ...result, raw: JSON.stringify(picture) } as JournalBody;
    const { results } = foldOf(prompt, opening, toolUse, withImage, toolResults).weights();
    expect(results).toBeLessThan(8_000);
    expect(results).toBeGreaterThan(6_000);
  });

  test('start with the new preamble after a compaction', () => {
    const broken: JournalBody = {
      type: 'prompt.broken',
      reason: 'compaction',
      section: 'messages',
      dropped: 3,
      summary: 'In short.',
      briefing: { text: 'New rules.', facts: {} },
    };
    const fold = foldOf(prompt, opening, toolUse, result, toolResults, broken);
    expect(fold.weights()).toMatchObject({ memory: size(block('New rules.')), results: 0 });
  });

  test('are empty after a clear', () => {
    const clear: JournalBody = { type: 'prompt.broken', reason: 'clear', section: 'messages' };
    const fold = foldOf(prompt, opening, toolUse, result, toolResults, clear);
    expect(fold.weights()).toEqual({ memory: 0, messages: 0, results: 0 });
  });

  test('of any journal add up to the weight of the history', () => {
    fc.assert(
      fc.property(anyJournal, (records) => {
        const fold = new WindowFold();
        for (const record of records) fold.apply(record);
        const { memory, messages, results } = fold.weights();
        const all = fold.history.messages.reduce((sum, { weight }) => sum + weight, 0);
        expect(memory + messages + results).toBe(all);
      }),
    );
  });
});

describe('a window', () => {
  const weights = fc.record<FillWeights>({
    system: fc.nat(1e7),
    tools: fc.nat(1e7),
    memory: fc.nat(1e7),
    messages: fc.nat(1e7),
    results: fc.nat(1e7),
  });

  test('has parts that add up to the tokens that the server counted', () => {
    fc.assert(
      fc.property(weights, fc.nat(2e6), (given, tokens) => {
        const fill = windowFill(given, THRESHOLDS, { tokens, counted: tokens });
        const sum = fill.parts.reduce((all, part) => all + part.tokens, 0);
        const isEmpty = FILL_KINDS.every((kind) => given[kind] === 0);
        expect(sum).toBe(isEmpty ? 0 : tokens);
        expect(fill.parts.every((part) => part.tokens >= 0)).toBe(true);
        expect(fill.freeTokens).toBe(Math.max(0, 200_000 - tokens));
      }),
    );
  });

  test('is estimated at four bytes per token without a count of the server', () => {
    const given = { system: 400, tools: 800, memory: 0, messages: 40, results: 0 };
    const fill = windowFill(given, THRESHOLDS);
    expect(fill).toMatchObject({ usedTokens: 310, countedTokens: 0, freeTokens: 199_690 });
    expect(fill.parts.map(({ tokens }) => tokens)).toEqual([100, 200, 0, 10, 0]);
    expect(fill.parts.map((part) => part.estimatedTokens)).toEqual([100, 200, 0, 10, 0]);
  });
});

describe('the recommended shares of a window', () => {
  test('are 15 % for an answer, 15 % for tools and 20 % for the system prompt, rounded down', () => {
    expect(budgetSplit(200_000)).toEqual({ output: 30_000, tools: 30_000, system: 40_000 });
    expect(budgetSplit(99)).toEqual({ output: 14, tools: 14, system: 19 });
  });

  test.each([
    [{ system: 160_000, tools: 120_000, messages: 400_000 }, []],
    [{ system: 160_004, tools: 120_000, messages: 0 }, ['system']],
    [{ system: 160_000, tools: 120_004, messages: 0 }, ['tools']],
    [{ system: 160_000, tools: 120_000, messages: 400_004 }, ['output']],
  ])('are exceeded by a single token more: %j', (given, exceeded) => {
    const fill = windowFill({ memory: 0, results: 0, ...given }, THRESHOLDS);
    expect(exceededShares(fill, THRESHOLDS.window)).toEqual(exceeded);
  });
});
