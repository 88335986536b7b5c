import { existsSync } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import type { PostedQuestion } from '../../../src/protocol/session/question-board.js';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { queueKey, SWARMS, swarmKeys } from '../../../src/store/redis/connection/swarm-keys.js';
import { openRedisStore } from '../../../src/store/redis/sessions/redis-store.js';
import { eventually } from '../../fakes/eventually.js';
import { mapWithLimit } from '../../fakes/map-with-limit.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import { type RedisEndpoint, redisServer } from '../../fakes/redis/redis-server.js';
import { calls, type Line, type Rules, setScene } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

/** A scene whose sessions are in the given Redis. */
const setSceneAt = async <Redis extends RedisEndpoint>(opening: Promise<Redis>, rules?: Rules) => {
  const [scene, redis] = await Promise.all([setScene(rules), opening]);
  const env = { SKEIN_REDIS_URL: redis.url };
  const run = (...args: readonly string[]) => scene.run(args, { env });
  const json = async (...args: readonly string[]): Promise<Line> =>
    JSON.parse((await run(...args, '--json')).stdout) as Line;
  const start = (...args: readonly string[]) => {
    const started = scene.start(args, { env });
    started.endInput();
    return started;
  };
  /** Opens the store as another process. */
  const open = async () => {
    const { sessions } = await openRedisStore({
      url: redis.url,
      owner: { marker: 'test', pid: process.pid },
      clock: systemClock,
      redact: (text: string) => text,
      folder: join(scene.tmp, 'sessions'),
    });
    onTestFinished(() => sessions.close());
    return sessions;
  };
  return { ...scene, redis, run, json, start, open, plain: scene.run };
};
const setRedisScene = (rules?: Rules) => setSceneAt(redisServer(), rules);

const COMMANDS = [
  '-p hello',
  '--continue',
  'ps',
  'inbox',
  'approve q_1',
  'deny q_1',
  'send lead hi',
  'stop lead',
  'resume s_1',
  'tasks',
  'sessions',
  'sessions prune --yes',
  'cost',
  'context',
  'logs',
  'logs --follow',
  'explain',
  'report',
  'rewind --list',
];

describe('an unreachable Redis', () => {
  test('makes every command that needs it fail with a single error line and exit code 2', async () => {
    const { run, skeinHome } = await setScene();
    const env = { SKEIN_REDIS_URL: 'redis://:hush123@127.0.0.1:1' };
    const sentence =
      'skein: Redis at 127.0.0.1:1 cannot be used (ECONNREFUSED): start it, or fix SKEIN_REDIS_URL.\n';
    const ends = await mapWithLimit(COMMANDS, 5, async (command) => {
      const { code, stdout, stderr } = await run(command.split(' '), { env });
      return { command, code, stdout, stderr };
    });
    expect(ends).toEqual(
      COMMANDS.map((command) => ({ command, code: 2, stdout: '', stderr: sentence })),
    );
    expect(await readdir(join(skeinHome, 'sessions'))).toEqual([]);
  });

  test('does not affect commands that need no store', async () => {
    const { run } = await setScene();
    const env = { SKEIN_REDIS_URL: 'redis://127.0.0.1:1' };
    for (const args of [
      ['config'],
      ['version'],
      ['prompt'],
      ['-p', 'x', '--no-session-persistence'],
    ]) {
      expect(await run(args, { env })).toMatchObject({ code: 0 });
    }
    expect(await run(['sessions', '--store', 'embedded'], { env })).toMatchObject({ code: 0 });
  });
});

describe('the store setting', () => {
  test('is taken from the flag, then SKEIN_STORE, then SKEIN_REDIS_URL, then settings', async () => {
    const { run, skeinHome } = await setScene();
    await mkdir(skeinHome, { recursive: true });
    const settings = { skein: { store: 'redis://:hush123@settings:1' } };
    await writeFile(join(skeinHome, 'settings.json'), JSON.stringify(settings));
    const storeWith = async (env: Record<string, string>, ...flags: readonly string[]) => {
      const { stdout } = await run(['config', '--json', ...flags], { env });
      expect(stdout).not.toContain('hush123');
      const { settings: rows } = JSON.parse(stdout) as { settings: Line[] };
      const { value, source } = rows.find(({ key }) => key === 'skein.store') ?? {};
      return [value, source] as const;
    };
    const urls = { SKEIN_REDIS_URL: 'redis+cluster://:hush123@url:1' };
    const both = { ...urls, SKEIN_STORE: 'rediss://:hush123@store:1' };
    expect(await storeWith({})).toEqual(['redis://:***@settings:1', 'user']);
    expect(await storeWith(urls)).toEqual(['redis+cluster://:***@url:1', 'environment']);
    expect(await storeWith(both)).toEqual(['rediss://:***@store:1', 'environment']);
    expect(await storeWith(both, '--store', 'embedded')).toEqual(['embedded', 'command']);
  });

  test('that is invalid is refused without its password in the message', async () => {
    const { run } = await setScene();
    const { code, stderr } = await run(['ps', '--store', 'mysql://me:hush123@host']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^skein: skein\.store in the command line cannot be used: write "embedded"/,
    );
    expect(stderr).not.toContain('hush123');
  });

  test('of a workspace applies only if the workspace is trusted', async () => {
    const { run, workspace } = await setScene();
    await mkdir(join(workspace, '.skein'));
    const settings = { skein: { store: 'redis://127.0.0.1:1' } };
    await writeFile(join(workspace, '.skein/settings.json'), JSON.stringify(settings));
    expect(await run(['sessions'])).toMatchObject({ code: 0 });
    expect(await run(['sessions', '--trust'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('is usable for `skein sessions` even if the settings of the workspace are broken', async () => {
    const { run, workspace } = await setScene();
    await mkdir(join(workspace, '.skein'));
    await writeFile(join(workspace, '.skein/settings.json'), '{');
    expect(await run(['sessions'])).toMatchObject({ code: 0 });
  });
});

needs.describe('redis')('a session in Redis', () => {
  test('is readable by every command of another process, and can be resumed there', async () => {
    const { run, json, plain, bodies } = await setRedisScene([{ reply: 'Done.' }]);
    expect(await run('-p', 'hello', '--session-id', 'one')).toMatchObject({ code: 0, stderr: '' });
    expect((await json('sessions')).sessions).toMatchObject([{ id: 'one', state: 'ended' }]);
    expect((await json('ps', '--all')).swarms).toMatchObject([{ session: 'one' }]);
    expect((await json('cost', 'one')).session).toBe('one');
    expect((await json('report', 'one')).agents).toHaveLength(1);
    expect((await json('tasks', 'one')).tasks).toEqual([]);
    expect((await run('logs', 'one')).stdout).toContain('agent stopped, end_turn');
    expect((await run('context', 'one')).stdout).toContain('one');
    expect((await run('explain', 'one')).code).toBe(0);
    expect((await run('-p', 'again', '--resume', 'one')).code).toBe(0);
    expect(bodies().at(-1)?.messages).toHaveLength(3);
    // The files are only a copy, so they cannot be resumed without Redis.
    expect(await plain(['-p', 'again', '--resume', 'one'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Session one is in Redis/),
    });
  });

  test('is removed by prune with all its keys and old jobs', async () => {
    const { run, json, redis } = await setRedisScene();
    await run('-p', 'hello', '--session-id', 'one');
    const connection = await connectRedis(redis.url);
    onTestFinished(() => connection.close());
    await connection.call('ZADD', queueKey('completed'), 1, 'one.a_1.0');
    const { removed, freedBytes } = await json('sessions', 'prune', '--older-than', '0h', '--yes');
    expect(removed).toEqual(['one']);
    expect(await connection.call('EXISTS', queueKey('completed'))).toBe(0);
    expect(freedBytes).toBeGreaterThan(0);
    expect((await json('sessions')).sessions).toEqual([]);
    const { checks } = await json('doctor');
    expect(checks.find(({ name }: Line) => name === 'swarms')).toMatchObject({
      found: expect.stringMatching(/^0 swarms in Redis/),
    });
  });

  test.each([
    ['SET', '{'],
    ['RPUSH', 'x'],
  ])(
    'that is unreadable (%s %s) is kept until it is old, and then reported and removed by prune',
    async (...put) => {
      const { run, json, redis } = await setRedisScene();
      await run('-p', 'hello', '--session-id', 'one');
      await run('-p', 'hello', '--session-id', 'two');
      const connection = await connectRedis(redis.url);
      onTestFinished(() => connection.close());
      const [command, text] = put;
      const { meta, prefix } = swarmKeys('one');
      await connection.call('DEL', meta);
      await connection.call(command, meta, text);
      const { removed, kept } = await json('sessions', 'prune', '--older-than', '1d', '--yes');
      expect({ removed, kept }).toEqual({
        removed: [],
        kept: [{ id: 'one', reason: expect.stringContaining('not valid JSON') }],
      });
      await connection.call('ZADD', SWARMS, Date.now() - 3 * 24 * 60 * 60 * 1_000, 'one');
      const { stdout, stderr, code } = await run(
        'sessions',
        'prune',
        '--older-than',
        '1d',
        '--yes',
      );
      expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
      expect(stdout).toMatch(/one +3 days ago +It cannot be read, so it cannot be resumed\./);
      expect(stdout).toContain('1 session removed');
      expect(await connection.call('KEYS', `${prefix}*`)).toEqual([]);
      expect((await json('sessions')).sessions).toMatchObject([{ id: 'two' }]);
    },
  );

  test('and a session in files keep their checkpoints when the other store is pruned', async () => {
    const { run, plain, json, workspace, skeinHome } = await setRedisScene([
      { match: { turn: 0 }, reply: calls('Write', { file_path: 'a.txt', content: 'new' }) },
      { reply: 'Done.' },
    ]);
    const checkpoints = join(skeinHome, 'checkpoints');
    const checkpointFiles = async () =>
      (await readdir(checkpoints, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
    for (const [words, runIn] of [
      ['of files', (args: string[]) => plain(args)],
      ['of Redis', (args: string[]) => run(...args)],
    ] as const) {
      await writeFile(join(workspace, 'a.txt'), `before, ${words}`);
      // Without commands no scan of the files leaves blobs of its own.
      await runIn(['-p', 'go', '--permission-mode', 'acceptEdits', '--disallowed-tools', 'Bash']);
    }
    const before = await checkpointFiles();
    expect(before.length).toBeGreaterThanOrEqual(2);
    const old = new Date(Date.now() - 3 * 24 * 60 * 60 * 1_000);
    for (const file of before) await utimes(file, old, old);
    expect((await json('sessions', 'prune', '--yes')).checkpoints).toMatchObject({ removed: 0 });
    const { stdout } = await plain(['sessions', 'prune', '--yes', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ checkpoints: { removed: 0 } });
    expect(await checkpointFiles()).toEqual(before);
  });

  test('is listed, messaged and answered from another terminal', async () => {
    const { run, json, start, workspace } = await setRedisScene([
      { match: { turn: 0 }, reply: calls('Bash', { command: 'touch made.txt' }) },
      { reply: 'Done.' },
    ]);
    const printed = start('-p', 'go', '--ask', '--output-format', 'json');
    const question = await eventually('stderr names the question', () => {
      return /skein approve (q_\w+)/.exec(printed.stderr)?.[1];
    });
    expect((await json('inbox')).questions).toMatchObject([{ id: question, tool: 'Bash' }]);
    expect((await json('ps')).swarms).toMatchObject([
      { isRunning: true, agents: [{ state: 'awaiting-permission' }] },
    ]);
    expect(await run('send', 'lead', 'be quick')).toMatchObject({ code: 0, stderr: '' });
    const approved = await run('approve', question);
    expect(approved).toMatchObject({ code: 0, stderr: '' });
    expect((await printed.ended).result).toMatchObject({ permission_denials: [] });
    expect(existsSync(join(workspace, 'made.txt'))).toBe(true);
  });

  test('accepts an answer to a question without a lead, and refuses a second answer', async () => {
    const { run, json, open } = await setRedisScene();
    await run('-p', 'hello', '--session-id', 'one');
    const store = await open();
    const { board, decisions } = store.questions('one');
    await board.post(QUESTION);
    expect((await json('inbox')).questions).toMatchObject([{ id: 'q_1', session: 'one' }]);
    expect(await run('deny', 'q_1', '--reason', 'no')).toMatchObject({ code: 0, stderr: '' });
    expect(await run('approve', 'q_1')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'skein: Too late: another terminal has denied it already.\n',
    });
    const decided = await decisions.waitFor('q_1', AbortSignal.timeout(30_000));
    expect(decided.answer).toMatchObject({ behavior: 'deny' });
  });
});

needs.describe('own-redis')('a session in Redis', () => {
  test('is followed by `logs --follow` through an outage, which stderr reports', async () => {
    const { start, open, redis, run } = await setSceneAt(ownRedisServer(), [{ reply: 'Done.' }]);
    await run('-p', 'hello', '--session-id', 'one');
    const store = await open();
    const session = await store.open('one');
    const follower = start('logs', '--follow', 'one');
    await eventually('the past events are shown', () => follower.stdout.includes('agent stopped'));
    await redis.kill();
    await eventually('the outage is reported', () => follower.stderr.includes('cannot be reached'));
    await redis.start();
    await eventually('the end of the outage is reported', () =>
      follower.stderr.includes('Redis is back.'),
    );
    await session.close();
    expect((await follower.ended).code).toBe(0);
  });
});

const QUESTION: PostedQuestion = {
  id: 'q_1',
  agent: 'a_1',
  call: 'toolu_1',
  tool: 'Bash',
  input: { command: 'ls' },
  inputDigest: 'x',
  description: 'Bash ls',
  reason: 'No rule.',
  risk: 'low',
  cwd: '/',
  askedAt: 1,
};
