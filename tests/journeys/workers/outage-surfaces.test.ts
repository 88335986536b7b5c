/** Notices about a Redis outage and its end, in all output formats and for SDK programs. */

import { writeFile } from 'node:fs/promises';
import net from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SkeinMessage } from '../../../src/sdk/api/messages/skein-message.js';
import { bash } from '../../fakes/agents/worker-lead.js';
import { logOf, type WorkerScene, workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer, type RedisServer } from '../../fakes/redis/own-redis-server.js';
import { DRIVEN, type Line, type Rules, STREAM, userLine } from '../../fakes/skein-process.js';
import { all, openSession, query } from '../../sdk/api/program.js';
import { needs } from '../../setup/needs.js';

const AWAY = /Redis .*: all agents wait\./;
const BACK = /Redis is back: all agents continue\./;
const FREE = ['--permission-mode', 'bypassPermissions'];
const RUN = ['-p', 'Begin', ...FREE];
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

/** Returns the output so far. */
type Output = () => string;

/** SDK options of a program in this process. */
const sdkOptions = ({ workspace, home, skeinHome, tmp, simulator, redis }: WorkerScene) => ({
  cwd: workspace,
  skeinHome,
  baseUrl: simulator.url,
  apiKey: 'simulated',
  store: redis.url,
  env: { PATH: process.env.PATH, HOME: home, TMPDIR: tmp, IS_SANDBOX: '1' },
  permissionMode: 'bypassPermissions' as const,
});

/** Reads messages in the background. */
const reader = (messages: AsyncIterable<SkeinMessage>) => {
  const seen: SkeinMessage[] = [];
  const read = async () => {
    for await (const message of messages) seen.push(message);
    return seen.at(-1);
  };
  return { notices: () => noticesIn(seen), last: read() };
};

const linesIn = (text: string): Line[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

/** A proxy to Redis that breaks all connections at the first script and refuses new connections until `repair()`. */
const startFailingProxy = async ({ redis }: WorkerScene<RedisServer>) => {
  const path = `${redis.socket}-frail`;
  const sockets = new Set<net.Socket>();
  let state: 'open' | 'broken' | 'repaired' = 'open';
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
    if (state === 'broken') client.destroy();
    upstream.pipe(client);
    client.on('data', (data) => {
      if (state === 'open' && /eval/i.test(data.toString('latin1'))) {
        state = 'broken';
        for (const socket of sockets) socket.destroy();
      } else upstream.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const repair = () => {
    state = 'repaired';
  };
  return { url: `unix://${path}`, repair };
};

needs.describe('own-redis')('a Redis outage and its end', () => {
  test('are reported in every output format and to SDK programs', async () => {
    const scene = await workerSceneAt(ownRedisServer(), RULES);
    const text = scene.begin(RUN);
    const json = scene.begin([...RUN, '--output-format', 'json']);
    const lines = scene.begin([...RUN, ...STREAM]);
    const driven = scene.start([...DRIVEN, ...FREE]);
    driven.say(userLine('Begin'));
    const typed = scene.start(['--plain', ...FREE]);
    typed.write('Begin\n');
    const options = sdkOptions(scene);
    const inProcess = reader(query({ prompt: 'Begin', options }));
    const subprocess = reader(
      query({ prompt: 'Begin', options: { ...options, subprocess: true } }),
    );
    const surfaces: Readonly<Record<string, Output>> = {
      'text, on stderr': () => text.stderr,
      'json, on stderr': () => json.stderr,
      'stream-json, on stderr': () => lines.stderr,
      'stream-json': () => noticesIn(linesIn(lines.stdout)),
      'stream-json with stream-json input': () => noticesIn(linesIn(driven.stdout)),
      'an interactive session': () => typed.stdout,
      'a program': inProcess.notices,
      'a program with a session in a subprocess': subprocess.notices,
    };
    await eventually('all sessions run', () => logOf(scene).length === 7);
    await scene.redis.kill();
    for (const [surface, output] of Object.entries(surfaces)) {
      await eventually(`the outage is reported: ${surface}`, () => AWAY.test(output()));
      expect(output()).not.toMatch(BACK);
    }
    await scene.redis.start();
    for (const [surface, output] of Object.entries(surfaces)) {
      await eventually(`the end is reported: ${surface}`, () => BACK.test(output()));
    }
    await writeFile(join(scene.workspace, 'go'), '');
    await driven.line(({ type }) => type === 'result');
    driven.endInput();
    typed.endInput();
    for (const process of [text, json, lines, driven, typed]) {
      expect(await process.ended).toMatchObject({ code: 0 });
    }
    for (const { last } of [inProcess, subprocess]) {
      expect(await last).toMatchObject({ type: 'result', result: 'There is a goose.' });
    }
  });

  test('between two runs of a program are reported in the next run', async () => {
    const scene = await workerSceneAt(ownRedisServer(), [{ reply: 'There is a goose.' }]);
    const session = await openSession(sdkOptions(scene));
    onTestFinished(() => session.close());
    await all(session.query('Begin'));
    await scene.redis.kill();
    await scene.redis.start();
    const messages = await all(session.query('Go on'));
    expect(noticesIn(messages)).toMatch(new RegExp(`${AWAY.source}\n.*${BACK.source}$`));
    expect(messages[0]).toMatchObject({ subtype: 'init' });
    expect(messages.at(-1)).toMatchObject({ type: 'result', subtype: 'success' });
  });

  test('are reported on stderr while a session opens', async () => {
    const scene = await workerSceneAt(ownRedisServer(), [{ reply: 'There is a goose.' }]);
    const { url, repair } = await startFailingProxy(scene);
    const lead = scene.begin([...RUN, ...STREAM], { env: { SKEIN_REDIS_URL: url } });
    await eventually('the outage is reported', () => AWAY.test(lead.stderr));
    expect(lead.stdout).toBe('');
    repair();
    expect(await lead.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(BACK) });
  });

  test('are JSON lines of a worker with --json', async () => {
    const { redis, worker } = await workerSceneAt(ownRedisServer(), RULES);
    const process = await worker(['--json']);
    await redis.kill();
    const why = `Redis at ${redis.socket} cannot be reached`;
    const stamp = {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      host: hostname(),
      worker: expect.stringMatching(/./),
    };
    const waiting = { ...stamp, what: 'waiting', why };
    expect(await process.line(({ what }) => what === 'waiting')).toEqual(waiting);
    await redis.start();
    const goingOn = { ...stamp, what: 'going on' };
    expect(await process.line(({ what }) => what === 'going on')).toEqual(goingOn);
    expect(process.stderr).toMatch(AWAY);
    process.kill('SIGTERM');
    expect(await process.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(BACK) });
  });
});
