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
  const release = gate();
  const model = scriptedModel(
    ...Array.from({ length: 10 }, (_, at) => answers('Yes.', at === 9 ? tokens : 100)),
    ...(isSent ? [[waits(release.opened), ...answers('Summary.')]] : []),
    ...(tokens > 8_000 ? [answers('Answer 11.')] : []),
  );
  const harness = await leadHarness({ model, staysIdle: true, contextWindow: WINDOW, ...options });
  for (let number = 1; number <= 10; number += 1) await harness.say(`Prompt ${number}.`);
  return { ...harness, release, model };
};

const NEVER = new AbortController().signal;

const viewOf = async ({ store, lead }: LeadHarness) =>
  (await swarmView(store, lead.meta)).agents[0];
const typesOf = async ({ records }: LeadHarness, from: number) =>
  (await records()).slice(from).map(({ type }) => type);

describe('a compaction', () => {
  test('is shown as state compacting, and the waiting turn is shown afterwards', async () => {
    const harness = await beforeSummary(8_400);
    await harness.say('Prompt 11.');
    expect(await viewOf(harness)).toMatchObject({ state: 'compacting', wait: { kind: 'model' } });
    harness.release.open();
    await settled();
    expect(await viewOf(harness)).toMatchObject({ state: 'idle', wait: null, turns: 11 });
  });

  test('on request is shown as state compacting, and does not start a run', async () => {
    const harness = await beforeSummary(100);
    const compacted = harness.lead.compact('');
    await settled();
    expect(await viewOf(harness)).toMatchObject({
      state: 'compacting',
      stop: { reason: 'end_turn' },
    });
    harness.release.open();
    await compacted;
    expect(await viewOf(harness)).toMatchObject({ state: 'idle', wait: null });
  });

  test('is no longer shown after an interrupt', async () => {
    const harness = await beforeSummary(100);
    const compacted = harness.lead.compact('').catch(() => 'given up');
    await settled();
    harness.lead.interrupt();
    expect(await compacted).toBe('given up');
    expect(await viewOf(harness)).toMatchObject({ state: 'idle' });
  });

  test('is not sent if the budget is spent while it waits for a request slot', async () => {
    const clock = virtualClock();
    const shared = governor(clock, 1);
    const harness = await beforeSummary(100, { clock, governor: shared, maxBudgetUsd: 1 }, false);
    const releaseSlot = await shared.enter(NEVER);
    const compacted = harness.lead.compact('').catch((error: unknown) => String(error));
    await settled();
    const need = { model: harness.lead.model, inputTokens: 1, knownTokens: 0, maxOutputTokens: 1 };
    const spent = await harness.lead.budget.reserve({ ...need, isTurn: false }, NEVER);
    if (!('settle' in spent)) throw new Error('nothing was left');
    spent.settle({ usage: NO_USAGE, cost: 2 });
    const before = (await harness.records()).length;
    releaseSlot();
    expect(await compacted).toMatch(/budget/);
    expect(await typesOf(harness, before)).toEqual(['consultation.ended']);
  });

  test('journals its end if it is interrupted before its request is sent', async () => {
    const clock = virtualClock();
    const shared = governor(clock, 1);
    const harness = await beforeSummary(100, { clock, governor: shared });
    const releaseSlot = await shared.enter(NEVER);
    const before = (await harness.records()).length;
    const compacted = harness.lead.compact('').catch(() => 'given up');
    await settled();
    expect(await viewOf(harness)).toMatchObject({ state: 'waiting', wait: { kind: 'requests' } });
    harness.lead.interrupt();
    expect(await compacted).toBe('given up');
    expect(await viewOf(harness)).toMatchObject({ state: 'idle', wait: null });
    expect(await typesOf(harness, before)).toEqual(['request.queued', 'consultation.ended']);
    releaseSlot();
    harness.release.open();
    await harness.lead.compact('');
  });
});
