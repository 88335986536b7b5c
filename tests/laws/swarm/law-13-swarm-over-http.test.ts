/** Law 13 for a swarm over HTTP and real processes: each agent does the same things in the same order. */
import { describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import type { Reply } from '../../fakes/skein-process.js';
import { taskCall } from '../swarm-wire.js';
import { makePlace } from '../workspace.js';

const EXPLORER = { subagent_type: 'explorer' };
const WORKER = { subagent_type: 'worker' };
const AGENTS = JSON.stringify({
  worker: { description: 'Works.', prompt: 'You work.', tools: 'Read, Task' },
});

/** Nobody says in which order things come that are under way at once: here each takes its time. */
const after = (delayMs: number, reply: Omit<Reply, 'delayMs'>): Reply => ({ ...reply, delayMs });
const reads = { tool_use: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
const part = (description: string, more: Record<string, unknown>) =>
  taskCall(`The ${description}.`, { description, ...more });

/** A typed agent with one below it, a fork, and one in the background. */
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

/** The records of each agent, by what it is for. */
const sequencesOf = async (word: string): Promise<ReadonlyMap<string, readonly string[]>> => {
  const place = await makePlace(scriptOf(word), { 'a.txt': 'x\n' });
  try {
    const { code, stderr } = await place.run(['Go.', '--session-id', 'same', '--agents', AGENTS]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    const journals = place.journal('same');
    const names = new Map(
      journals.flatMap((it) =>
        it.type === 'agent.created' ? [[it.agent, it.origin?.description ?? 'lead']] : [],
      ),
    );
    const sequences = new Map<string, string[]>();
    let mine: string[] = [];
    for (const record of journals) {
      if (record.type === 'agent.created') {
        mine = [];
        sequences.set(names.get(record.agent) ?? '', mine);
      }
      mine.push(blind(record, names).replaceAll(place.workspace, '/work'));
    }
    return sequences;
  } finally {
    await place.close();
  }
};

const TIMES = new Set(['ts', 'durationMs', 'mtimeMs']);

/** Ids, and what is drawn from them and from the working directory, are other ones in each run. */
const blind = (record: JournalRecord, names: ReadonlyMap<string, string>): string => {
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
  test('two runs have each agent do the same things in the same order', async () => {
    const one = await sequencesOf('one');
    expect([...one.keys()].toSorted()).toEqual([
      'deep part',
      'forked part',
      'lead',
      'slow part',
      'typed part',
    ]);
    const again = await sequencesOf('one');
    for (const [name, records] of one) expect([name, again.get(name)]).toEqual([name, records]);
  });

  test('catches two runs of which one agent says another word', async () => {
    const [one, other] = [await sequencesOf('one'), await sequencesOf('two')];
    expect(other.get('deep part')).not.toEqual(one.get('deep part'));
    expect(other.get('slow part')).toEqual(one.get('slow part'));
  });
});
