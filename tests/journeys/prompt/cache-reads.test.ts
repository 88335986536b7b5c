/** Cache reads of a session, as the simulator counts them by the rules of the API. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prefixBlocks } from '../../../src/simulator/prefix-blocks.js';
import { eventually } from '../../fakes/eventually.js';
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

const TURNS = 100;
const MIN_READ_SHARE = 0.95;
const MIN_SAVED_SHARE = 0.3;

/** Size of the prompt part that all agents share: long enough for the cache of every model. */
const SHARED_TOKENS = { min: 4_200, max: 6_400 };

/** More blocks than the lookback of a server covers. */
const MANY = 30;

interface CacheUse {
  readonly read: number;
  /** Cached tokens after the response has started. */
  readonly left: number;
  /** Input tokens that were neither read from nor written to the cache. */
  readonly plain: number;
}

/** Cache use of the requests whose response started, oldest first. */
const cacheUseOf = ({ simulator }: Pick<Scene, 'simulator'>): readonly CacheUse[] =>
  simulator.requests.flatMap(({ usage }) => {
    if (usage === undefined) return [];
    const { cacheRead: read, cacheWrite5m, cacheWrite1h, input: plain } = usage;
    return [{ read, left: read + cacheWrite5m + cacheWrite1h, plain }];
  });

/** Checks that each request after the first reads all tokens that the previous request left. */
const expectReads = (uses: readonly CacheUse[]) => {
  expect(uses[0]?.left).toBeGreaterThan(0);
  expect(uses.slice(1).map(({ read }) => read)).toEqual(uses.slice(0, -1).map(({ left }) => left));
};

/** First letters of the roles in the last request. */
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

const setNotesScene = async (rules: Rules) => {
  const scene = await setScene(rules);
  await writeFile(join(scene.workspace, 'notes.txt'), 'A goose flies.\n'.repeat(200));
  return scene;
};

/** Returns a function that runs a prompt in a new process. The first starts the session, others resume it. */
const promptRunner = (scene: Scene) => {
  let hasStarted = false;
  return async (content: string | readonly Line[]) => {
    const choice = hasStarted ? ['--resume', 'talk'] : ['--session-id', 'talk'];
    hasStarted = true;
    if (typeof content === 'string') return scene.run(['-p', content, ...choice]);
    const line = { type: 'user', message: { role: 'user', content } };
    return scene.run([...DRIVEN, ...choice], { stdin: `${JSON.stringify(line)}\n` });
  };
};

describe('a session of a hundred turns', () => {
  let scene: Awaited<ReturnType<typeof openScene>>;
  beforeAll(async () => {
    // Each call has a different input, because Skein stops an agent that repeats the same call.
    const read = (at: number) => calls('Read', { file_path: 'notes.txt', limit: 1_000 + at });
    const reads = Array.from({ length: TURNS - 1 }, (_, at) => read(at));
    scene = await openScene([{ replies: [...reads, { text: 'All read.' }] }]);
    await writeFile(join(scene.workspace, 'notes.txt'), 'A goose flies over it.\n'.repeat(60));
    await scene.run(['-p', 'Read the notes, often.']);
  }, 60_000);
  afterAll(() => scene.close());

  test('reads at least 95 % of its input tokens from the cache', () => {
    const uses = cacheUseOf(scene);
    expect(uses).toHaveLength(TURNS);
    const read = uses.reduce((sum, use) => sum + use.read, 0);
    const all = uses.reduce((sum, use) => sum + use.left + use.plain, 0);
    expect(read / all).toBeGreaterThanOrEqual(MIN_READ_SHARE);
  });

  test('reads in each turn all tokens that the previous turn left in the cache', () => {
    expectReads(cacheUseOf(scene));
  });

  test('costs at most 70 % of the list price without a cache (K15, an estimate)', () => {
    const { cost = Number.NaN, uncachedCost = Number.NaN } = scene.simulator.totals;
    const saved = 1 - cost / uncachedCost;
    expect(saved).toBeGreaterThanOrEqual(MIN_SAVED_SHARE);
  });
});

describe('the cached prompt is read again', () => {
  test('after messages with more blocks than the lookback of a server covers', async () => {
    const scene = await setNotesScene([{ reply: { blocks: blocks('Answer') as never } }]);
    const ask = promptRunner(scene);
    for (const word of ['one', 'two', 'three']) await ask(blocks(word));
    expect(rolesIn(scene)).toBe('uauau');
    expectReads(cacheUseOf(scene));
  });

  test.each([30, 100])('after a turn with %i parallel calls', async (count) => {
    const scene = await setNotesScene([
      { match: { turn: { max: 2 } }, reply: manyReads(count) },
      { reply: 'All read.' },
    ]);
    await scene.run(['-p', 'Read everything.']);
    const results = scene.bodies().at(-1)?.messages.at(-1).content;
    expect(results).toHaveLength(count);
    expect(cacheUseOf(scene)).toHaveLength(4);
    expectReads(cacheUseOf(scene));
  });

  test('after a resume in a new process', async () => {
    const scene = await setNotesScene([
      { match: { turn: 0 }, reply: manyReads(MANY) },
      { reply: 'Read.' },
    ]);
    const ask = promptRunner(scene);
    for (const word of ['one', 'two', 'three']) await ask(word);
    expect(cacheUseOf(scene)).toHaveLength(4);
    expectReads(cacheUseOf(scene));
  });

  test('after a request that the server refused', async () => {
    const scene = await setNotesScene([
      { match: { lastUser: 'refuse' }, reply: { error: { status: 400, message: 'No.' } } },
      { reply: 'Yes.' },
    ]);
    const ask = promptRunner(scene);
    await ask('one');
    expect(await ask(blocks('refuse this'))).toMatchObject({ code: 1 });
    await ask('three');
    expect(rolesIn(scene)).toBe('uauu');
    expect(cacheUseOf(scene)).toHaveLength(2);
    expectReads(cacheUseOf(scene));
  });

  test('after the server refused the results of many calls', async () => {
    const scene = await setNotesScene([
      { match: { turn: 0 }, reply: manyReads(100) },
      { match: { lastUser: 'go on' }, reply: 'Yes.' },
      { reply: { error: { status: 400, message: 'No.' } } },
    ]);
    const ask = promptRunner(scene);
    expect(await ask('one')).toMatchObject({ code: 1 });
    await ask('go on');
    expect(cacheUseOf(scene)).toHaveLength(2);
    expectReads(cacheUseOf(scene));
  });

  test('after an interrupted answer', async () => {
    const slow = { chunkBytes: 5, chunkDelayMs: 40 };
    const cut = { blocks: [...blocks('Said'), { type: 'text', text: 'word '.repeat(500) }] };
    const scene = await setNotesScene([
      { match: { lastUser: 'two' }, reply: { ...cut, ...slow } as never },
      { reply: 'Yes.' },
    ]);
    const ask = promptRunner(scene);
    await ask('one');
    const flags = ['--resume', 'talk', ...STREAM, '--include-partial-messages'];
    const interrupted = scene.start(['-p', 'two', ...flags]);
    interrupted.endInput();
    await interrupted.line(({ event }) => event?.type === 'content_block_delta' && event.index > 2);
    interrupted.kill('SIGINT');
    expect(await interrupted.ended).toMatchObject({ code: 130 });
    await ask(blocks('three'));
    expect(cacheUseOf(scene)).toHaveLength(3);
    expectReads(cacheUseOf(scene));
  });

  test('after an interrupt before the first part of the answer', async () => {
    const scene = await setNotesScene([
      { match: { lastUser: 'two' }, reply: { text: 'Never.', stall: { afterEvents: 1 } } },
      { reply: 'Yes.' },
    ]);
    const ask = promptRunner(scene);
    await ask('one');
    const interrupted = scene.start(['-p', 'two', '--resume', 'talk']);
    interrupted.endInput();
    await eventually('the request has started', () => scene.bodies().length === 2);
    interrupted.kill('SIGINT');
    expect(await interrupted.ended).toMatchObject({ code: 130 });
    await ask('three');
    expect(rolesIn(scene)).toBe('uauu');
    expect(cacheUseOf(scene)).toHaveLength(3);
    expectReads(cacheUseOf(scene));
  });

  test('after paused turns and their continuation', async () => {
    const paused = { blocks: blocks('Searching'), stop_reason: 'pause_turn' } as never;
    const scene = await setNotesScene([
      { match: { turn: 1 }, reply: paused },
      { match: { turn: 2 }, reply: paused },
      { reply: 'Found.' },
    ]);
    const ask = promptRunner(scene);
    for (const word of ['one', 'two', 'three']) await ask(word);
    expect(rolesIn(scene)).toBe('uauaaau');
    expect(cacheUseOf(scene)).toHaveLength(5);
    expectReads(cacheUseOf(scene));
  });

  test('by the next attempt after a broken stream', async () => {
    const scene = await setNotesScene([
      { match: { turn: 0 }, reply: manyReads(MANY) },
      { replies: [{ text: 'Cut.', cut: { afterEvents: 2 } }, { text: 'Whole.' }] },
    ]);
    await scene.run(['-p', 'Go.']);
    const [, broken, whole] = cacheUseOf(scene);
    expect(scene.bodies()[1]).toEqual(scene.bodies()[2]);
    expect(broken?.left).toBeGreaterThan(broken?.read ?? 0);
    expect(whole).toMatchObject({ read: broken?.left, left: broken?.left });
    expectReads(cacheUseOf(scene));
  });

  test('by the next attempt after an overload error', async () => {
    const busy = { error: { status: 529, headers: { 'retry-after-ms': '1' } } };
    const scene = await setNotesScene([
      { match: { turn: 0 }, reply: manyReads(MANY) },
      { replies: [busy, { text: 'Now.' }] },
    ]);
    await scene.run(['-p', 'Go.']);
    expect(scene.bodies()).toHaveLength(3);
    expect(cacheUseOf(scene)).toHaveLength(2);
    expectReads(cacheUseOf(scene));
  });

  test('after a notice about a background command', async () => {
    const scene = await setNotesScene([
      {
        match: { turn: 0 },
        reply: calls('Bash', { command: 'echo gone', run_in_background: true }),
      },
      { reply: 'It runs.' },
    ]);
    const process = scene.start([...DRIVEN, '--permission-mode', 'bypassPermissions']);
    process.say(userLine('start it'));
    await process.line(({ type }) => type === 'result');
    await eventually('stderr reports the end', () => process.stderr.includes('bash_1 has ended'));
    process.say(userLine('and now?'));
    await eventually('the next request is sent', () => scene.bodies().length === 3);
    process.endInput();
    expect(await process.ended).toMatchObject({ code: 0 });
    expect(JSON.stringify(scene.bodies().at(-1)?.messages)).toContain('bash_1 has ended');
    expectReads(cacheUseOf(scene));
  });

  // The second model has the largest minimum that a prefix must reach to be cached.
  test.each(['sonnet', 'claude-haiku-4-5'])(
    'by another session of %s in another project, up to the end of the shared part',
    async (model) => {
      const scene = await setNotesScene([{ reply: 'Yes.' }]);
      const elsewhere = join(scene.root, 'elsewhere');
      await mkdir(elsewhere);
      await writeFile(join(elsewhere, 'CLAUDE.md'), 'Geese fly south.\n');
      await scene.run(['-p', 'one', '--model', model]);
      const env = { TMPDIR: elsewhere, LANG: 'tr_TR.UTF-8', TZ: 'Pacific/Kiritimati' };
      await scene.run(['-p', 'two', '--model', model], { cwd: elsewhere, env });
      const [, second] = scene.simulator.requests;
      const prompt = prefixBlocks(JSON.parse(second?.body.toString() ?? '{}'));
      const shared = prompt.find(({ breakpoint: mark }) => mark !== undefined)?.end;
      expect(shared).toBeGreaterThanOrEqual(SHARED_TOKENS.min);
      expect(shared).toBeLessThanOrEqual(SHARED_TOKENS.max);
      expect(cacheUseOf(scene)[1]?.read).toBe(shared);
    },
  );
});
