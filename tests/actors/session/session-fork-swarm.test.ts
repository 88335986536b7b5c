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
const BACKGROUND = { ...EXPLORER, run_in_background: true };

/** Lead with an agent that has changed a file and then waits for its model. */
const working = async (more: Record<string, unknown>) => {
  const release = gate();
  const harness = await swarmHarness(({ last }) => {
    if (last.includes('begin')) {
      return [calls('c1', 'Task', task('paint', { description: 'WORK', ...more }))];
    }
    if (last.includes('paint')) return [calls('d1', 'Note', { name: 'wall' })];
    if (last.includes('did wall')) return [waits(release.opened), says('never said')];
    return [says('I wait.')];
  });
  await harness.say('begin');
  await allSettled();
  expect(harness.callLog).toEqual(['start wall', 'end wall']);
  return { harness, release };
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

describe('a forked session', () => {
  test.each([
    ['a typed agent', EXPLORER],
    ['a fork', {}],
  ])('that waits for %s does not restart it, and gets a note about it', async (_, kind) => {
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

  test('can be made while the source runs, and the source continues with its agents', async () => {
    const { harness, release } = await working(EXPLORER);
    const copy = await copyOf(harness);
    expect(copy.callLog).toEqual([]);
    expect(copy.results().c1).toMatch(STAYED);
    release.open();
    await allSettled();
    expect(harness.results().c1).toContain('never said');
  });

  test('gets a note about a background agent with its next prompt, and no report later', async () => {
    const { harness, release } = await working(BACKGROUND);
    const copy = await copyOf(harness, 'And now?');
    const [first] = copy.requests.map(conversationOf);
    expect(first?.last).toMatch(STAYED);
    expect(first?.last).toContain('And now?');
    expect(copy.requests).toHaveLength(1);
    expect((await copy.lead.stopped).stop.reason).toBe('end_turn');

    release.open();
    await allSettled();
    expect(harness.requests.at(-1)?.body).toContain('never said');
    expect(copy.requests).toHaveLength(1);
  });

  test('gets no note about an agent that has reported', async () => {
    const { harness, release } = await working(BACKGROUND);
    release.open();
    await allSettled();
    const copy = await copyOf(harness, 'And now?');
    expect(copy.requests[0]?.body).not.toMatch(STAYED);
    expect(copy.requests[0]?.body).toContain('never said');
  });

  test.each([
    ['a synchronous agent', EXPLORER],
    ['a background agent', BACKGROUND],
  ])('does not list %s of the source', async (_, kind) => {
    const { harness } = await working(kind);
    const copy = await copyOf(harness, 'And now?');
    const { agents } = await swarmView(copy.store, copy.lead.meta);
    expect(agents.map(({ id }) => id)).toEqual([copy.lead.meta.lead]);
    expect(await copy.store.agents('s_copy')).toEqual([copy.lead.meta.lead]);
    expect(copy.lead.steer.matching('a_')).toEqual([]);
    expect(copy.lead.spent.cost).toBe(copy.lead.journal.history.spent.cost);
  });
});
