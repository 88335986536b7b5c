/** Where people and programs are told that Redis is away, and that it is back. */
import { writeFile } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SkeinMessage } from '../../../src/sdk/api/messages/skein-message.js';
import { bash } from '../../fakes/agents/worker-lead.js';
import { logOf, type WorkerScene, workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { ownRedisServer, type RedisServer } from '../../fakes/redis/own-redis-server.js';
import { DRIVEN, type Line, type Rules, STREAM, userLine } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { all, openSession, query } from '../../sdk/api/program.js';
import { needs } from '../../setup/needs.js';

const AWAY = /Redis .*: all agents wait\./;
const BACK = /Redis is back: all agents continue\./;
const FREE = ['--permission-mode', 'bypassPermissions'];
const ONE = ['-p', 'Begin', ...FREE];
const WAITS = 'echo begun >> log; while [ ! -e go ]; do sleep 0.05; done';

const RULES: Rules = [
  { match: { turn: 0 }, reply: { tool_use: bash(WAITS) } },
  { reply: 'There is a goose.' },
];

const noticesIn = (messages: readonly (SkeinMessage | Line)[]): string =>
  messages
    .map((message) =>
      'text' in message ? `${message.type} ${message.subtype}: ${message.text}` : '',
    )
    .filter((text) => text.startsWith('system notice: '))
    .join('\n');

/** What was said so far on a surface. */
type Said = () => string;

/** A program in this process, whose agents are as `more` says; `said` are the notices that it was told. */
const programIn = ({ workspace, home, skeinHome, tmp, simulator, redis }: WorkerScene) => ({
  cwd: workspace,
  skeinHome,
  baseUrl: simulator.url,
  apiKey: 'simulated',
  store: redis.url,
  env: { PATH: process.env.PATH, HOME: home, TMPDIR: tmp, IS_SANDBOX: '1' },
  permissionMode: 'bypassPermissions' as const,
});

/** Reads on while the test does something else. */
const reader = (messages: AsyncIterable<SkeinMessage>) => {
  const seen: SkeinMessage[] = [];
  const read = async () => {
    for await (const message of messages) seen.push(message);
    return seen.at(-1);
  };
  return { said: () => noticesIn(seen), last: read() };
};

const linesIn = (text: string): Line[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

/** Between a process and its Redis: hangs up at the first script, and takes no calls until it is mended. */
const frailLine = async ({ redis }: WorkerScene<RedisServer>) => {
  const path = `${redis.socket}-frail`;
  const sockets = new Set<net.Socket>();
  let state: 'whole' | 'cut' | 'mended' = 'whole';
  const server = net.createServer((client) => {
    const upstream = net.connect(redis.socket);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    if (state === 'cut') client.destroy();
    upstream.pipe(client);
    client.on('data', (data) => {
      if (state === 'whole' && /eval/i.test(data.toString('latin1'))) {
        state = 'cut';
        for (const socket of sockets) socket.destroy();
      } else upstream.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const mend = () => {
    state = 'mended';
  };
  return { url: `unix://${path}`, mend };
};

needs.describe('own-redis')('an outage of Redis, and its end,', () => {
  test('are told on every surface', async () => {
    const scene = await workerSceneAt(ownRedisServer(), RULES);
    const text = scene.begin(ONE);
    const json = scene.begin([...ONE, '--output-format', 'json']);
    const lines = scene.begin([...ONE, ...STREAM]);
    const driven = scene.start([...DRIVEN, ...FREE]);
    driven.say(userLine('Begin'));
    const typed = scene.start(['--plain', ...FREE]);
    typed.write('Begin\n');
    const options = programIn(scene);
    const hosted = reader(query({ prompt: 'Begin', options }));
    const apart = reader(query({ prompt: 'Begin', options: { ...options, subprocess: true } }));
    const surfaces: Readonly<Record<string, Said>> = {
      'text, on stderr': () => text.stderr,
      'json, on stderr': () => json.stderr,
      'stream-json, on stderr': () => lines.stderr,
      'stream-json': () => noticesIn(linesIn(lines.stdout)),
      'a driver': () => noticesIn(linesIn(driven.stdout)),
      'a person': () => typed.stdout,
      'a program': hosted.said,
      'a program whose agents have processes of their own': apart.said,
    };
    await eventually('all are at work', () => logOf(scene).length === 7);
    await scene.redis.kill();
    for (const [surface, said] of Object.entries(surfaces)) {
      await eventually(`it is told: ${surface}`, () => AWAY.test(said()));
      expect(said()).not.toMatch(BACK);
    }
    await scene.redis.start();
    for (const [surface, said] of Object.entries(surfaces)) {
      await eventually(`its end is told: ${surface}`, () => BACK.test(said()));
    }
    await writeFile(join(scene.workspace, 'go'), '');
    await driven.line(({ type }) => type === 'result');
    driven.endInput();
    typed.endInput();
    for (const process of [text, json, lines, driven, typed]) {
      expect(await process.ended).toMatchObject({ code: 0 });
    }
    for (const { last } of [hosted, apart]) {
      expect(await last).toMatchObject({ type: 'result', result: 'There is a goose.' });
    }
  });

  test('between two runs of a program are told with the next one', async () => {
    const scene = await workerSceneAt(ownRedisServer(), [{ reply: 'There is a goose.' }]);
    const session = await openSession(programIn(scene));
    onTestFinished(() => session.close());
    await all(session.query('Begin'));
    await scene.redis.kill();
    await scene.redis.start();
    const messages = await all(session.query('Go on'));
    expect(noticesIn(messages)).toMatch(new RegExp(`${AWAY.source}\n.*${BACK.source}$`));
    expect(messages[0]).toMatchObject({ subtype: 'init' });
    expect(messages.at(-1)).toMatchObject({ type: 'result', subtype: 'success' });
  });

  test('are told on stderr while a session is being opened', async () => {
    const scene = await workerSceneAt(ownRedisServer(), [{ reply: 'There is a goose.' }]);
    const { url, mend } = await frailLine(scene);
    const lead = scene.begin([...ONE, ...STREAM], { env: { SKEIN_REDIS_URL: url } });
    await eventually('it is told', () => AWAY.test(lead.stderr));
    expect(lead.stdout).toBe('');
    mend();
    expect(await lead.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(BACK) });
  });

  test('are lines of a worker that tells programs', async () => {
    const { redis, worker } = await workerSceneAt(ownRedisServer(), RULES);
    const process = await worker(['--json']);
    await redis.kill();
    const why = `Redis at ${redis.socket} cannot be reached`;
    expect(await process.line(({ what }) => what === 'waiting')).toEqual({ what: 'waiting', why });
    await redis.start();
    expect(await process.line(({ what }) => what === 'going on')).toEqual({ what: 'going on' });
    expect(process.stderr).toMatch(AWAY);
    process.kill('SIGTERM');
    expect(await process.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(BACK) });
  });
});
