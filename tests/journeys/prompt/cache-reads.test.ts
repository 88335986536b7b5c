/** What a session reads from the cache, as a server keeps the books that the API documents. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prefixBlocks } from '../../../src/simulator/prefix-blocks.js';
import {
  calls,
  DRIVEN,
  type Line,
  openScene,
  type Reply,
  type Rules,
  type Scene,
  STREAM,
  setScene,
  userLine,
} from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';

const TURNS = 100;
const LEAST_READ = 0.95;
const LEAST_SAVED = 0.3;

/** What all agents of a version are told alike: long enough for every model to cache. */
const FIXED_TOKENS = { least: 4_200, most: 6_400 };

/** More blocks than a server looks back over. */
const MANY = 30;

interface Booked {
  readonly read: number;
  /** What is in the cache once the response has started. */
  readonly left: number;
  /** What was neither read nor written. */
  readonly plain: number;
}

/** The requests whose response started, oldest first. */
const bookedBy = ({ simulator }: Pick<Scene, 'simulator'>): readonly Booked[] =>
  simulator.requests.flatMap(({ usage }) => {
    if (usage === undefined) return [];
    const { cacheRead: read, cacheWrite5m, cacheWrite1h, input: plain } = usage;
    return [{ read, left: read + cacheWrite5m + cacheWrite1h, plain }];
  });

/** Each of them but the first reads all that the one before it has left. */
const expectReads = (booked: readonly Booked[]) => {
  expect(booked[0]?.left).toBeGreaterThan(0);
  expect(booked.slice(1).map(({ read }) => read)).toEqual(
    booked.slice(0, -1).map(({ left }) => left),
  );
};

/** Who speaks in the last request, by the first letters. */
const rolesIn = ({ bodies }: Scene): string =>
  bodies()
    .at(-1)
    ?.messages.map(({ role }: Line) => role[0])
    .join('');

const blocks = (text: string, count = MANY): Line[] =>
  Array.from({ length: count }, (_, n) => ({ type: 'text', text: `${text} ${n}.` }));

const manyReads = (count: number): Reply => ({
  tool_use: Array.from({ length: count }, (_, n) => ({
    name: 'Read',
    input: { file_path: 'notes.txt', offset: n + 1, limit: 1 },
  })),
});

const openNotes = async (rules: Rules) => {
  const scene = await setScene(rules);
  await writeFile(join(scene.workspace, 'notes.txt'), 'A goose flies.\n'.repeat(200));
  return scene;
};

/** One prompt in a process of its own; the first begins the session, the others go on with it. */
const talker = (scene: Scene) => {
  let began = false;
  return async (content: string | readonly Line[]) => {
    const choice = began ? ['--resume', 'talk'] : ['--session-id', 'talk'];
    began = true;
    if (typeof content === 'string') return scene.run(['-p', content, ...choice]);
    const line = { type: 'user', message: { role: 'user', content } };
    return scene.run([...DRIVEN, ...choice], { stdin: `${JSON.stringify(line)}\n` });
  };
};

describe('a session of a hundred turns', () => {
  let scene: Awaited<ReturnType<typeof openScene>>;
  beforeAll(async () => {
    // Each with an input of its own: one that did the very same a hundred times would be stopped.
    const read = (at: number) => calls('Read', { file_path: 'notes.txt', limit: 1_000 + at });
    const reads = Array.from({ length: TURNS - 1 }, (_, at) => read(at));
    scene = await openScene([{ replies: [...reads, { text: 'All read.' }] }]);
    await writeFile(join(scene.workspace, 'notes.txt'), 'A goose flies over it.\n'.repeat(60));
    await scene.run(['-p', 'Read the notes, often.']);
  }, 60_000);
  afterAll(() => scene.close());

  test('reads at least 95 % of its input tokens from the cache', () => {
    const booked = bookedBy(scene);
    expect(booked).toHaveLength(TURNS);
    const read = booked.reduce((sum, it) => sum + it.read, 0);
    const all = booked.reduce((sum, it) => sum + it.left + it.plain, 0);
    expect(read / all).toBeGreaterThanOrEqual(LEAST_READ);
  });

  test('reads all that the turn before has left, every time', () => {
    expectReads(bookedBy(scene));
  });

  test('costs by the price list at most 70 % of what it would without a cache (K15, an estimate)', () => {
    const { cost = Number.NaN, uncachedCost = Number.NaN } = scene.simulator.totals;
    const saved = 1 - cost / uncachedCost;
    expect(saved).toBeGreaterThanOrEqual(LEAST_SAVED);
  });
});

describe('what was cached is read again', () => {
  test('behind messages of more blocks than a server looks back over', async () => {
    const scene = await openNotes([{ reply: { blocks: blocks('Answer') as never } }]);
    const ask = talker(scene);
    for (const word of ['one', 'two', 'three']) await ask(blocks(word));
    expect(rolesIn(scene)).toBe('uauau');
    expectReads(bookedBy(scene));
  });

  test.each([30, 100])('behind a turn of %i calls at once', async (count) => {
    const scene = await openNotes([
      { match: { turn: { max: 2 } }, reply: manyReads(count) },
      { reply: 'All read.' },
    ]);
    await scene.run(['-p', 'Read everything.']);
    const results = scene.bodies().at(-1)?.messages.at(-1).content;
    expect(results).toHaveLength(count);
    expect(bookedBy(scene)).toHaveLength(4);
    expectReads(bookedBy(scene));
  });

  test('after a resume in a new process', async () => {
    const scene = await openNotes([
      { match: { turn: 0 }, reply: manyReads(MANY) },
      { reply: 'Read.' },
    ]);
    const ask = talker(scene);
    for (const word of ['one', 'two', 'three']) await ask(word);
    expect(bookedBy(scene)).toHaveLength(4);
    expectReads(bookedBy(scene));
  });

  test('after a request that the server refused', async () => {
    const scene = await openNotes([
      { match: { lastUser: 'refuse' }, reply: { error: { status: 400, message: 'No.' } } },
      { reply: 'Yes.' },
    ]);
    const ask = talker(scene);
    await ask('one');
    expect(await ask(blocks('refuse this'))).toMatchObject({ code: 1 });
    await ask('three');
    expect(rolesIn(scene)).toBe('uauu');
    expect(bookedBy(scene)).toHaveLength(2);
    expectReads(bookedBy(scene));
  });

  test('after results of many calls that the server refused', async () => {
    const scene = await openNotes([
      { match: { turn: 0 }, reply: manyReads(100) },
      { match: { lastUser: 'go on' }, reply: 'Yes.' },
      { reply: { error: { status: 400, message: 'No.' } } },
    ]);
    const ask = talker(scene);
    expect(await ask('one')).toMatchObject({ code: 1 });
    await ask('go on');
    expect(bookedBy(scene)).toHaveLength(2);
    expectReads(bookedBy(scene));
  });

  test('after an answer that a person interrupted', async () => {
    const slow = { chunkBytes: 5, chunkDelayMs: 40 };
    const cut = { blocks: [...blocks('Said'), { type: 'text', text: 'word '.repeat(500) }] };
    const scene = await openNotes([
      { match: { lastUser: 'two' }, reply: { ...cut, ...slow } as never },
      { reply: 'Yes.' },
    ]);
    const ask = talker(scene);
    await ask('one');
    const flags = ['--resume', 'talk', ...STREAM, '--include-partial-messages'];
    const interrupted = scene.start(['-p', 'two', ...flags]);
    interrupted.endInput();
    await interrupted.line(({ event }) => event?.type === 'content_block_delta' && event.index > 2);
    interrupted.kill('SIGINT');
    expect(await interrupted.ended).toMatchObject({ code: 130 });
    await ask(blocks('three'));
    expect(bookedBy(scene)).toHaveLength(3);
    expectReads(bookedBy(scene));
  });

  test('after a person interrupted before there was anything to keep', async () => {
    const scene = await openNotes([
      { match: { lastUser: 'two' }, reply: { text: 'Never.', stall: { afterEvents: 1 } } },
      { reply: 'Yes.' },
    ]);
    const ask = talker(scene);
    await ask('one');
    const interrupted = scene.start(['-p', 'two', '--resume', 'talk']);
    interrupted.endInput();
    await eventually('it has begun', () => scene.bodies().length === 2);
    interrupted.kill('SIGINT');
    expect(await interrupted.ended).toMatchObject({ code: 130 });
    await ask('three');
    expect(rolesIn(scene)).toBe('uauu');
    expect(bookedBy(scene)).toHaveLength(3);
    expectReads(bookedBy(scene));
  });

  test('after a pause, and after what followed it', async () => {
    const paused = { blocks: blocks('Searching'), stop_reason: 'pause_turn' } as never;
    const scene = await openNotes([
      { match: { turn: 1 }, reply: paused },
      { match: { turn: 2 }, reply: paused },
      { reply: 'Found.' },
    ]);
    const ask = talker(scene);
    for (const word of ['one', 'two', 'three']) await ask(word);
    expect(rolesIn(scene)).toBe('uauaaau');
    expect(bookedBy(scene)).toHaveLength(5);
    expectReads(bookedBy(scene));
  });

  test('by the next attempt, when a stream breaks off', async () => {
    const scene = await openNotes([
      { match: { turn: 0 }, reply: manyReads(MANY) },
      { replies: [{ text: 'Cut.', cut: { afterEvents: 2 } }, { text: 'Whole.' }] },
    ]);
    await scene.run(['-p', 'Go.']);
    const [, broken, whole] = bookedBy(scene);
    expect(scene.bodies()[1]).toEqual(scene.bodies()[2]);
    expect(broken?.left).toBeGreaterThan(broken?.read ?? 0);
    expect(whole).toMatchObject({ read: broken?.left, left: broken?.left });
    expectReads(bookedBy(scene));
  });

  test('by the next attempt, when a server is overloaded', async () => {
    const busy = { error: { status: 529, headers: { 'retry-after-ms': '1' } } };
    const scene = await openNotes([
      { match: { turn: 0 }, reply: manyReads(MANY) },
      { replies: [busy, { text: 'Now.' }] },
    ]);
    await scene.run(['-p', 'Go.']);
    expect(scene.bodies()).toHaveLength(3);
    expect(bookedBy(scene)).toHaveLength(2);
    expectReads(bookedBy(scene));
  });

  test('with news of a background command in between', async () => {
    const scene = await openNotes([
      {
        match: { turn: 0 },
        reply: calls('Bash', { command: 'echo gone', run_in_background: true }),
      },
      { reply: 'It runs.' },
    ]);
    const process = scene.start([...DRIVEN, '--permission-mode', 'bypassPermissions']);
    process.say(userLine('start it'));
    await process.line(({ type }) => type === 'result');
    await eventually('people are told', () => process.stderr.includes('bash_1 has ended'));
    process.say(userLine('and now?'));
    await eventually('it is answered', () => scene.bodies().length === 3);
    process.endInput();
    expect(await process.ended).toMatchObject({ code: 0 });
    expect(JSON.stringify(scene.bodies().at(-1)?.messages)).toContain('bash_1 has ended');
    expectReads(bookedBy(scene));
  });

  // The second model has the largest minimum that a prefix must reach to be cached.
  test.each(['sonnet', 'claude-haiku-4-5'])(
    'by another session of %s in another project, as far as both say the same',
    async (model) => {
      const scene = await openNotes([{ reply: 'Yes.' }]);
      const elsewhere = join(scene.root, 'elsewhere');
      await mkdir(elsewhere);
      await writeFile(join(elsewhere, 'CLAUDE.md'), 'Geese fly south.\n');
      await scene.run(['-p', 'one', '--model', model]);
      const env = { TMPDIR: elsewhere, LANG: 'tr_TR.UTF-8', TZ: 'Pacific/Kiritimati' };
      await scene.run(['-p', 'two', '--model', model], { cwd: elsewhere, env });
      const [, second] = scene.simulator.requests;
      const prompt = prefixBlocks(JSON.parse(second?.body.toString() ?? '{}'));
      const shared = prompt.find(({ breakpoint: mark }) => mark !== undefined)?.end;
      expect(shared).toBeGreaterThanOrEqual(FIXED_TOKENS.least);
      expect(shared).toBeLessThanOrEqual(FIXED_TOKENS.most);
      expect(bookedBy(scene)[1]?.read).toBe(shared);
    },
  );
});
