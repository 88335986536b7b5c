/**
 * Law 13 for a swarm over HTTP with real processes: each agent writes the same records in the same
 * order.
 */
import { describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { eventually } from '../../fakes/eventually.js';
import type { Reply } from '../../fakes/skein-process.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { taskCall } from '../swarm-wire.js';
import { openPrintScene, type PrintScene } from '../workspace.js';

const EXPLORER = { subagent_type: 'explorer' };
const WORKER = { subagent_type: 'worker' };
const AGENTS = JSON.stringify({
  worker: { description: 'Works.', prompt: 'You work.', tools: 'Read, Task' },
});

/** The order of parallel work is undefined, so answers that the test releases separate its parts. */
const after = (delayMs: number, reply: Omit<Reply, 'delayMs'>): Reply => ({ ...reply, delayMs });
const reads = { tool_use: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
const part = (description: string, more: Record<string, unknown>) =>
  taskCall(`The ${description}.`, { description, ...more });

/** A typed agent with a child, a fork, and a background agent. */
const scriptOf = (word: string) => ({
  rules: [
    { match: { firstUser: 'deep part', turn: 0 }, reply: reads },
    { match: { firstUser: 'deep part' }, reply: `deep ${word}` },
    {
      match: { firstUser: 'typed part', turn: 0 },
      reply: { thinking: 'Hm.', tool_use: [part('deep part', EXPLORER)] },
    },
    { match: { firstUser: 'typed part' }, reply: after(400, { text: 'typed' }) },
    { match: { firstUser: 'slow part', turn: 0 }, reply: after(1_800, reads) },
    { match: { firstUser: 'slow part' }, reply: 'slow' },
    { match: { lastUser: '<fork-task>' }, reply: after(1_000, reads) },
    {
      match: { turn: 0 },
      reply: {
        tool_use: [
          part('typed part', WORKER),
          part('forked part', {}),
          part('slow part', { ...EXPLORER, run_in_background: true }),
        ],
      },
    },
    { reply: 'Done.' },
  ],
});

/** Records of each agent, by its description. */
const recordsByAgent = (scene: PrintScene): ReadonlyMap<string, readonly JournalRecord[]> => {
  const byAgent = new Map<string, JournalRecord[]>();
  let own: JournalRecord[] = [];
  for (const record of scene.journal('same')) {
    if (record.type === 'agent.created') {
      own = [];
      byAgent.set(record.origin?.description ?? 'lead', own);
    }
    own.push(record);
  }
  return byAgent;
};

/** Runs the swarm and returns the normalised records of each agent. */
const sequencesOf = async (word: string): Promise<ReadonlyMap<string, readonly string[]>> => {
  const clock = virtualClock();
  const scene = await openPrintScene(scriptOf(word), { 'a.txt': 'x\n' }, clock);
  const ofLead = (type: JournalRecord['type']) =>
    recordsByAgent(scene)
      .get('lead')
      ?.filter((record) => record.type === type);
  try {
    const run = scene.start(['Go.', '--session-id', 'same', '--agents', AGENTS]);
    await eventually('three agents wait for an answer', () => clock.sleepers === 3);
    await clock.toNextWake();
    // The call that started the background agent has ended before.
    await eventually('the typed agent has ended', () => ofLead('call.ended')?.length === 2);
    await clock.toNextWake();
    await eventually('the lead waits', () => ofLead('assistant.received')?.length === 2);
    await clock.toNextWake();
    const { code, stderr } = await run.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    const records = recordsByAgent(scene);
    const names = new Map(
      [...records].flatMap(([name, [created]]) =>
        created?.type === 'agent.created' ? [[created.agent, name] as const] : [],
      ),
    );
    const text = (record: JournalRecord) =>
      normalise(record, names).replaceAll(scene.workspace, '/work');
    return new Map([...records].map(([name, own]) => [name, own.map(text)]));
  } finally {
    await scene.close();
  }
};

const TIMES = new Set(['ts', 'durationMs', 'mtimeMs']);

/** Ids and values that are derived from ids and the working directory differ in each run. */
const normalise = (record: JournalRecord, names: ReadonlyMap<string, string>): string => {
  const text = JSON.stringify(record, (key, value: unknown) =>
    TIMES.has(key) ? undefined : value,
  );
  return [...names]
    .reduce((rest, [id, name]) => rest.replaceAll(id, `<${name}>`), text)
    .replaceAll(/"(letter|prompt|owner|requestId)":"[^"]*"/g, '"$1":""')
    .replaceAll(/"(section env info|system block 4)":"[^"]*"/g, '"$1":""')
    .replaceAll(/"digests":\[[^\]]*\]/g, '"digests":[]')
    .replaceAll(/\b(toolu|msg|bound)_\w+/g, '$1');
};

describe('law 13, same seed, same log, for a swarm over HTTP', () => {
  test('each agent writes the same records in the same order in two runs', async () => {
    const first = await sequencesOf('one');
    expect([...first.keys()].toSorted()).toEqual([
      'deep part',
      'forked part',
      'lead',
      'slow part',
      'typed part',
    ]);
    const again = await sequencesOf('one');
    for (const [name, records] of first) expect([name, again.get(name)]).toEqual([name, records]);
  });

  test('catches two runs with a different word of one agent', async () => {
    const [first, second] = [await sequencesOf('one'), await sequencesOf('two')];
    expect(second.get('deep part')).not.toEqual(first.get('deep part'));
    expect(second.get('slow part')).toEqual(first.get('slow part'));
  });
});
