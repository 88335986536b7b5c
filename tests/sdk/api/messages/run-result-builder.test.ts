import { describe, expect, test } from 'vitest';
import type { LeadSession } from '../../../../src/actors/session/lead-session.js';
import { Spending } from '../../../../src/context/budget/spending.js';
import { STOP_REASONS, type Stop, type StopReason } from '../../../../src/protocol/agent/stop.js';
import { NO_USAGE } from '../../../../src/protocol/model/usage.js';
import type { FeedItem } from '../../../../src/protocol/session/feed.js';
import { RunResultBuilder } from '../../../../src/sdk/api/messages/run-result-builder.js';
import { childSays, fed } from '../../../fakes/agents/child-agents.js';

const answered = (...texts: readonly string[]): FeedItem => ({
  type: 'assistant.message',
  messageId: 'msg_1',
  model: 'm',
  stopReason: 'end_turn',
  content: JSON.stringify(texts.map((text) => ({ type: 'text', text }))),
  usage: NO_USAGE,
});

/** Returns the result of a run with this feed and this stop. */
const resultOf = (reason: StopReason, detail: string | null, ...items: readonly FeedItem[]) => {
  const result = new RunResultBuilder();
  for (const item of items) result.take(item);
  const stop: Stop = { reason, detail };
  const budget = { overshoot: 0 };
  const session = { id: 's_1', spent: new Spending(), budget, damage: [] };
  return result.toMessage(session as unknown as LeadSession, stop, 'a-uuid');
};

describe('the result of a run', () => {
  test('is the whole text of its last message', () => {
    expect(
      resultOf('end_turn', null, answered('Working.'), answered('It is ', 'done.')),
    ).toMatchObject({
      subtype: 'success',
      is_error: false,
      result: 'It is done.',
      num_turns: 2,
    });
  });

  test('is the stop reason, beside the partial text, if the run failed', () => {
    expect(resultOf('model_error', 'The model is down.', answered('So far.'))).toMatchObject({
      subtype: 'error_during_execution',
      is_error: true,
      result: 'The model is down.',
      errors: ['The model is down.'],
      partial_result: 'So far.',
      stop_reason: 'model_error',
    });
  });

  test.each([
    ['end_turn', 'success'],
    ['max_turns', 'error_max_turns'],
    ['budget', 'error_max_budget_usd'],
    ['refusal', 'error_during_execution'],
    ['interrupted', 'error_during_execution'],
  ] as const)('names %s as %s', (reason, subtype) => {
    expect(resultOf(reason, null)).toMatchObject({ subtype, stop_reason: reason });
  });

  test.each(STOP_REASONS)('has errors if its subtype is not success: %s', (reason) => {
    const { subtype, errors = [] } = resultOf(reason, null, answered('So far.'));
    expect([subtype === 'success', ...errors.map((text) => text.includes(reason))]).toEqual(
      reason === 'end_turn' ? [true] : [false, true],
    );
  });

  test('lists denied calls', () => {
    const denial = { tool: 'Bash', call: 't', input: { command: 'ls' }, reason: 'No rule.' };
    expect(resultOf('end_turn', null, { type: 'call.denied', denial })).toMatchObject({
      permission_denials: [
        {
          tool_name: 'Bash',
          tool_use_id: 't',
          tool_input: { command: 'ls' },
          reason: 'No rule.',
        },
      ],
    });
  });

  test('lists denied calls of agents, but not their turns or text', () => {
    const denial = { tool: 'Bash', call: 't', input: {}, reason: 'Not given.' };
    const result = resultOf(
      'end_turn' as const,
      null,
      answered('Mine.'),
      childSays('[{"type":"text","text":"Theirs."}]'),
      fed({ type: 'call.denied', denial }),
    );
    expect(result).toMatchObject({
      result: 'Mine.',
      num_turns: 1,
      permission_denials: [{ tool_name: 'Bash', reason: 'Not given.', agent_id: 'ag_1' }],
    });
  });
});
