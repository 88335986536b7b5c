/** Events of a side request while it is in flight. */
import { describe, expect, test } from 'vitest';
import { governor } from '../../../src/model/governor.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import { swarmView } from '../../../src/views/swarm/swarm-view.js';
import { gate, scriptedModel, waits } from '../../fakes/agents/scripted-model.js';
import { settled, virtualClock } from '../../fakes/virtual-clock.js';
import { type LeadHarness, type LeadOptions, leadHarness } from '../session/lead-harness.js';
import { answers, WINDOW } from '../session/small-window.js';

/** Ten exchanges, and a summary that arrives when the gate is opened. */
const beforeSummary = async (tokens: number, options: Partial<LeadOptions> = {}, isSent = true) => {
  const shut = gate();
  const model = scriptedModel(
    ...Array.from({ length: 10 }, (_, at) => answers('Yes.', at === 9 ? tokens : 100)),
    ...(isSent ? [[waits(shut.opened), ...answers('Summary.')]] : []),
    ...(tokens > 8_000 ? [answers('Answer 11.')] : []),
  );
  const harness = await leadHarness({ model, staysIdle: true, contextWindow: WINDOW, ...options });
  for (let number = 1; number <= 10; number += 1) await harness.say(`Prompt ${number}.`);
  return { ...harness, shut, model };
};

const NEVER = new AbortController().signal;

const seen = async ({ store, lead }: LeadHarness) => (await swarmView(store, lead.meta)).agents[0];
const typesOf = async ({ records }: LeadHarness, from: number) =>
  (await records()).slice(from).map(({ type }) => type);

describe('a compaction', () => {
  test('is seen while it lasts, and the turn that waits for it afterwards', async () => {
    const harness = await beforeSummary(8_400);
    await harness.say('Prompt 11.');
    expect(await seen(harness)).toMatchObject({ state: 'compacting', wait: { kind: 'model' } });
    harness.shut.open();
    await settled();
    expect(await seen(harness)).toMatchObject({ state: 'idle', wait: null, turns: 11 });
  });

  test('that a person asks for is seen, and is no run', async () => {
    const harness = await beforeSummary(100);
    const compacted = harness.lead.compact('');
    await settled();
    expect(await seen(harness)).toMatchObject({
      state: 'compacting',
      stop: { reason: 'end_turn' },
    });
    harness.shut.open();
    await compacted;
    expect(await seen(harness)).toMatchObject({ state: 'idle', wait: null });
  });

  test('that is given up is seen no more', async () => {
    const harness = await beforeSummary(100);
    const compacted = harness.lead.compact('').catch(() => 'given up');
    await settled();
    harness.lead.interrupt();
    expect(await compacted).toBe('given up');
    expect(await seen(harness)).toMatchObject({ state: 'idle' });
  });

  test('that waits for its place is not sent when its money was used up meanwhile', async () => {
    const clock = virtualClock();
    const shared = governor(clock, 1);
    const harness = await beforeSummary(100, { clock, governor: shared, maxBudgetUsd: 1 }, false);
    const leave = await shared.enter(NEVER);
    const compacted = harness.lead.compact('').catch((error: unknown) => String(error));
    await settled();
    const need = { model: harness.lead.model, inputTokens: 1, knownTokens: 0, maxOutputTokens: 1 };
    const other = await harness.lead.budget.reserve({ ...need, isTurn: false }, NEVER);
    if (!('settle' in other)) throw new Error('nothing was left');
    other.settle({ usage: NO_USAGE, cost: 2 });
    const before = (await harness.records()).length;
    leave();
    expect(await compacted).toMatch(/budget/);
    expect(await typesOf(harness, before)).toEqual(['consultation.ended']);
  });

  test('that is given up before its request could leave is on record as having ended', async () => {
    const clock = virtualClock();
    const shared = governor(clock, 1);
    const harness = await beforeSummary(100, { clock, governor: shared });
    const leave = await shared.enter(NEVER);
    const before = (await harness.records()).length;
    const compacted = harness.lead.compact('').catch(() => 'given up');
    await settled();
    expect(await seen(harness)).toMatchObject({ state: 'waiting', wait: { kind: 'requests' } });
    harness.lead.interrupt();
    expect(await compacted).toBe('given up');
    expect(await seen(harness)).toMatchObject({ state: 'idle', wait: null });
    expect(await typesOf(harness, before)).toEqual(['request.queued', 'consultation.ended']);
    leave();
    harness.shut.open();
    await harness.lead.compact('');
  });
});
