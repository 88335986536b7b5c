/** Events of a side request while it is in flight. */
import { describe, expect, test } from 'vitest';
import { governor } from '../../../src/model/governor.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import { swarmView } from '../../../src/views/swarm/swarm-view.js';
import { gate, scriptedModel, waits } from '../../fakes/agents/scripted-model.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { type LeadInHand, type LeadOptions, leadInHand } from '../session/lead-in-hand.js';
import { answers, WINDOW } from '../session/long-talk.js';

/** Ten exchanges, and a summary that arrives when the gate is opened. */
const beforeSummary = async (tokens: number, options: Partial<LeadOptions> = {}, isSent = true) => {
  const shut = gate();
  const model = scriptedModel(
    ...Array.from({ length: 10 }, (_, at) => answers('Yes.', at === 9 ? tokens : 100)),
    ...(isSent ? [[waits(shut.opened), ...answers('Summary.')]] : []),
    ...(tokens > 8_000 ? [answers('Answer 11.')] : []),
  );
  const hand = await leadInHand({ model, lingers: true, contextWindow: WINDOW, ...options });
  for (let number = 1; number <= 10; number += 1) await hand.say(`Prompt ${number}.`);
  return { ...hand, shut, model };
};

const NEVER = new AbortController().signal;

const seen = async ({ store, lead }: LeadInHand) => (await swarmView(store, lead.meta)).agents[0];
const typesOf = async ({ records }: LeadInHand, from: number) =>
  (await records()).slice(from).map(({ type }) => type);

describe('a compaction', () => {
  test('is seen while it lasts, and the turn that waits for it afterwards', async () => {
    const hand = await beforeSummary(8_400);
    await hand.say('Prompt 11.');
    expect(await seen(hand)).toMatchObject({ state: 'compacting', wait: { kind: 'model' } });
    hand.shut.open();
    await settled();
    expect(await seen(hand)).toMatchObject({ state: 'idle', wait: null, turns: 11 });
  });

  test('that a person asks for is seen, and is no run', async () => {
    const hand = await beforeSummary(100);
    const compacted = hand.lead.compact('');
    await settled();
    expect(await seen(hand)).toMatchObject({ state: 'compacting', stop: { reason: 'end_turn' } });
    hand.shut.open();
    await compacted;
    expect(await seen(hand)).toMatchObject({ state: 'idle', wait: null });
  });

  test('that is given up is seen no more', async () => {
    const hand = await beforeSummary(100);
    const compacted = hand.lead.compact('').catch(() => 'given up');
    await settled();
    hand.lead.interrupt();
    expect(await compacted).toBe('given up');
    expect(await seen(hand)).toMatchObject({ state: 'idle' });
  });

  test('that waits for its place is not sent when its money was used up meanwhile', async () => {
    const clock = virtualClock();
    const shared = governor(clock, 1);
    const hand = await beforeSummary(100, { clock, governor: shared, maxBudgetUsd: 1 }, false);
    const leave = await shared.enter(NEVER);
    const compacted = hand.lead.compact('').catch((error: unknown) => String(error));
    await settled();
    const need = { model: hand.lead.model, inputTokens: 1, knownTokens: 0, maxOutputTokens: 1 };
    const other = await hand.lead.budget.reserve({ ...need, isTurn: false }, NEVER);
    if (!('settle' in other)) throw new Error('nothing was left');
    other.settle({ usage: NO_USAGE, cost: 2 });
    const before = (await hand.records()).length;
    leave();
    expect(await compacted).toMatch(/budget/);
    expect(await typesOf(hand, before)).toEqual(['consultation.ended']);
  });

  test('that is given up before its request could leave is on record as having ended', async () => {
    const clock = virtualClock();
    const shared = governor(clock, 1);
    const hand = await beforeSummary(100, { clock, governor: shared });
    const leave = await shared.enter(NEVER);
    const before = (await hand.records()).length;
    const compacted = hand.lead.compact('').catch(() => 'given up');
    await settled();
    expect(await seen(hand)).toMatchObject({ state: 'waiting', wait: { kind: 'requests' } });
    hand.lead.interrupt();
    expect(await compacted).toBe('given up');
    expect(await seen(hand)).toMatchObject({ state: 'idle', wait: null });
    expect(await typesOf(hand, before)).toEqual(['request.queued', 'consultation.ended']);
    leave();
    hand.shut.open();
    await hand.lead.compact('');
  });
});
