/** A forked session with agents that have not ended: they stay with the source session. */
import { describe, expect, test } from 'vitest';
import { swarmView } from '../../../src/views/swarm/swarm-view.js';
import { calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import { firstBreak } from '../../laws/prompts.js';
import {
  allSettled,
  conversationOf,
  type SwarmHarness,
  swarmHarness,
  task,
} from '../swarm/swarm-harness.js';

const EXPLORER = { subagent_type: 'explorer' };
const BEHIND = { ...EXPLORER, run_in_background: true };

/** A lead with an agent that has changed a file and then sends no answer. */
const working = async (more: Record<string, unknown>) => {
  const door = gate();
  const harness = await swarmHarness(({ last }) => {
    if (last.includes('begin')) {
      return [calls('c1', 'Task', task('paint', { description: 'WORK', ...more }))];
    }
    if (last.includes('paint')) return [calls('d1', 'Note', { name: 'wall' })];
    if (last.includes('did wall')) return [waits(door.opened), says('never said')];
    return [says('I wait.')];
  });
  await harness.say('begin');
  await allSettled();
  expect(harness.callLog).toEqual(['start wall', 'end wall']);
  return { harness, door };
};

const copyOf = async ({ store, clock, lead }: SwarmHarness, prompt?: string) => {
  const copy = await swarmHarness(
    ({ last }) => [last.includes('paint') ? calls('d2', 'Note', { name: 'wall' }) : says('I see.')],
    { store, clock, choice: { kind: 'fork', from: lead.id, id: 's_copy' } },
  );
  if (prompt === undefined) copy.lead.start();
  else await copy.say(prompt);
  await allSettled();
  return copy;
};

const STAYED = /a_\w+ \(WORK\) stayed with session s_\w+/;

describe('a copy of a session', () => {
  test.each([
    ['a typed agent', EXPLORER],
    ['a fork', {}],
  ])('that waits for %s has none begin again, and is told where it is', async (_, kind) => {
    const { harness } = await working(kind);
    await harness.lead.close();
    const copy = await copyOf(harness);

    expect(copy.callLog).toEqual([]);
    const [first] = copy.requests.map(conversationOf);
    expect(first?.last).toMatch(STAYED);
    expect(copy.requests).toHaveLength(1);
    expect((await copy.lead.stopped).stop.reason).toBe('end_turn');
    const asked = harness.requests
      .filter(({ body }) => !body.includes('paint'))
      .map(({ body }) => body);
    expect(
      firstBreak([...asked, first?.body ?? ''].map((body) => Buffer.from(body))),
    ).toBeUndefined();
  });

  test('may be made while the session is at work, which then goes on with its agents', async () => {
    const { harness, door } = await working(EXPLORER);
    const copy = await copyOf(harness);
    expect(copy.callLog).toEqual([]);
    expect(copy.results().c1).toMatch(STAYED);
    door.open();
    await allSettled();
    expect(harness.results().c1).toContain('never said');
  });

  test('hears with its next prompt of an agent in the background, and of nothing later', async () => {
    const { harness, door } = await working(BEHIND);
    const copy = await copyOf(harness, 'And now?');
    const [first] = copy.requests.map(conversationOf);
    expect(first?.last).toMatch(STAYED);
    expect(first?.last).toContain('And now?');
    expect(copy.requests).toHaveLength(1);
    expect((await copy.lead.stopped).stop.reason).toBe('end_turn');

    door.open();
    await allSettled();
    expect(harness.requests.at(-1)?.body).toContain('never said');
    expect(copy.requests).toHaveLength(1);
  });

  test('hears nothing of one that has reported', async () => {
    const { harness, door } = await working(BEHIND);
    door.open();
    await allSettled();
    const copy = await copyOf(harness, 'And now?');
    expect(copy.requests[0]?.body).not.toMatch(STAYED);
    expect(copy.requests[0]?.body).toContain('never said');
  });

  test.each([
    ['waited for', EXPLORER],
    ['in the background', BEHIND],
  ])('lists no agent that is not its own: one %s', async (_, kind) => {
    const { harness } = await working(kind);
    const copy = await copyOf(harness, 'And now?');
    const { agents } = await swarmView(copy.store, copy.lead.meta);
    expect(agents.map(({ id }) => id)).toEqual([copy.lead.meta.lead]);
    expect(await copy.store.agents('s_copy')).toEqual([copy.lead.meta.lead]);
    expect(copy.lead.steer.matching('a_')).toEqual([]);
    expect(copy.lead.spent.cost).toBe(copy.lead.journal.history.spent.cost);
  });
});
