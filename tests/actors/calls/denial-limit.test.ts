import { describe, expect, test } from 'vitest';
import { DenialLimit } from '../../../src/actors/calls/denial-limit.js';
import type { PermissionRule } from '../../../src/protocol/permission/permission-rule.js';
import { calls, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { leadHarness } from '../session/lead-harness.js';

const NEVER: PermissionRule = { behavior: 'deny', text: 'Change', source: 'user' };

const asks = (turn: number, name: string) => [calls(`c${turn}`, 'Change', { name })];

describe('an agent with denied calls', () => {
  test('is stopped at the third denial of the same call', async () => {
    const model = scriptedModel(asks(1, 'a'), asks(2, 'a'), asks(3, 'a'));
    const { lead, say, callLog } = await leadHarness({ model, rules: [NEVER] });
    await say('Go');
    const { stop } = await lead.stopped;
    expect(stop.reason).toBe('denied');
    expect(stop.detail).toMatch(/a\) was denied 3 times, and the agent kept asking for it\./);
    expect(callLog).toEqual([]);
    expect(model.requests).toHaveLength(3);
  });

  test('continues if it makes other calls', async () => {
    const others = ['b', 'c'].map((name, at) => [calls(`l${at}`, 'Look', { name })]);
    const model = scriptedModel(asks(1, 'a'), asks(2, 'a'), ...others, [says('I see.')]);
    const { lead, say } = await leadHarness({ model, rules: [NEVER] });
    await say('Go');
    expect(await lead.stopped).toMatchObject({ stop: { reason: 'end_turn' } });
  });

  test('may repeat a denied call in the same message', async () => {
    const many = Array.from({ length: 30 }, (_, at) => calls(`c${at}`, 'Change', { name: 'a' }));
    const model = scriptedModel(many, [says('I see.')]);
    const { lead, say } = await leadHarness({ model, rules: [NEVER] });
    await say('Go');
    expect(await lead.stopped).toMatchObject({ stop: { reason: 'end_turn' } });
  });

  test('has its denials counted from zero in each run', async () => {
    const model = scriptedModel(
      asks(1, 'a'),
      asks(2, 'a'),
      [says('One.')],
      asks(3, 'a'),
      asks(4, 'a'),
      [says('Two.')],
    );
    const { say, items } = await leadHarness({ model, rules: [NEVER], staysIdle: true });
    await say('Go');
    await say('Go on');
    const ends = items.flatMap((item) => (item.type === 'run.ended' ? [item.stop.reason] : []));
    expect(ends).toEqual(['end_turn', 'end_turn']);
  });
});

describe('DenialLimit', () => {
  test('stops the run at the twentieth turn with a denial', () => {
    const denials = new DenialLimit({ maxSameDenials: 3, maxDeniedTurns: 20 });
    const turns = Array.from({ length: 20 }, (_, turn) => denials.count(`Edit(${turn})`, 1, turn));
    expect(turns.slice(0, 19)).toEqual(Array(19).fill(undefined));
    expect(turns[19]).toBe('Calls were denied in 20 turns of this run.');
  });
});
