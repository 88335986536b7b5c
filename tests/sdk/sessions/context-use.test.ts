import { describe, expect, test } from 'vitest';
import { windowThresholds } from '../../../src/context/window/window-thresholds.js';
import { contextUse, contextUseOf } from '../../../src/sdk/sessions/context-use.js';
import { leadHarness } from '../../actors/session/lead-harness.js';
import { answers, WINDOW } from '../../actors/session/small-window.js';
import { scriptedModel } from '../../fakes/agents/scripted-model.js';

const MARKS = windowThresholds('unknown', 200_000);

describe('the context use', () => {
  test.each([
    [0, 'ok'],
    [147_000, 'ok'],
    [147_001, 'warn'],
    [167_000, 'warn'],
    [167_001, 'full'],
    [250_000, 'full'],
  ] as const)('with %i of 200,000 tokens is %s (X2)', (tokens, level) => {
    expect(contextUse(tokens, MARKS)).toEqual({
      tokens,
      level,
      window: 200_000,
      warnAbove: 147_000,
      compactAbove: 167_000,
    });
  });

  test('of a lead is the count of the last response and an estimate of later messages', async () => {
    const model = scriptedModel(answers('Answer.', 7_400));
    const { lead, say } = await leadHarness({ model, staysIdle: true, contextWindow: WINDOW });
    expect(contextUseOf(lead)).toMatchObject({ window: WINDOW, level: 'ok' });
    await say('Prompt.');
    const { tokens, level, warnAbove } = contextUseOf(lead);
    expect(tokens).toBe(lead.journal.history.tokens);
    expect([tokens > warnAbove, level]).toEqual([true, 'warn']);
  });
});
