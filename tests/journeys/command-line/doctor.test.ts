import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { plainServer } from '../../fakes/redis/redis-servers.js';
import { type Line, type RunOptions, setScene } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

/** A scene with `runDoctor`, which runs `skein doctor` and returns the checks by name. */
const setDoctorScene = async (env: Record<string, string | undefined> = {}, ...flags: string[]) => {
  const scene = await setScene();
  const runDoctor = async (options: RunOptions = {}) => {
    const { code, stdout, stderr } = await scene.run(['doctor', '--json', ...flags], {
      env,
      ...options,
    });
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Line[] };
    const byName = Object.fromEntries(checks.map((check) => [check.name, check]));
    return { code, ok, stdout, stderr, checks: byName };
  };
  return { ...scene, runDoctor };
};

/** A server that replies `answer` to every command and records its input. */
const startFixedReplyServer = async (answer: string) => {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      received.push(data.toString());
      // Commands can arrive together, and each needs a reply.
      const commands = data.toString().match(/^\*\d/gm)?.length ?? 1;
      socket.write(answer.repeat(commands));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return { received, port: typeof address === 'object' ? address?.port : 0 };
};

describe('skein doctor', () => {
  test('runs all checks in a fixed order, passes on a complete machine and creates no files', async () => {
    const { runDoctor, skeinHome, home } = await setDoctorScene();
    const { code, ok, checks, stdout, stderr } = await runDoctor();
    expect(Object.keys(checks)).toEqual([
      'node',
      'git',
      'ripgrep',
      'shell',
      'watchdog',
      'bubblewrap',
      'state',
      'disk',
      'settings',
      'key',
      'server',
      'proxy',
      'redis',
      'terminal',
    ]);
    expect({ code, ok, stderr }).toEqual({ code: 0, ok: true, stderr: '' });
    for (const name of ['node', 'shell', 'watchdog', 'state', 'settings', 'key', 'server']) {
      expect(checks[name]).toMatchObject({ status: 'ok' });
    }
    expect(stdout).not.toContain('sk-of-the-test');
    // The command creates no files, not even the state directory.
    expect(await readdir(home)).toEqual([]);
    expect(checks.state?.found).toContain(skeinHome);
  });

  test('prints a line per check as text, with a fix for each failure', async () => {
    const { run } = await setScene();
    const { code, stdout } = await run(['doctor'], { env: { ANTHROPIC_API_KEY: '' } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ok {4}node {8}v\d+/m);
    expect(stdout).toMatch(/^FAIL {2}key {9}no key is set\n {18}Set ANTHROPIC_API_KEY/m);
    expect(stdout).toMatch(/fix key\.\n$/);
  });

  test('sends a request to the server only with --online', async () => {
    const offline = await setDoctorScene();
    await offline.runDoctor();
    expect(offline.simulator.requests).toEqual([]);
    const online = await setDoctorScene({}, '--online');
    expect((await online.runDoctor()).checks.server).toMatchObject({
      status: 'ok',
      found: expect.stringMatching(/answers and accepts the key/),
    });
    expect(online.simulator.requests.map(({ path }) => path)).toEqual(['/v1/models']);
  });

  test('reports an unreachable server and an invalid server address', async () => {
    const gone = await setDoctorScene({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }, '--online');
    const found = await gone.runDoctor();
    expect(found.code).toBe(1);
    expect(found.checks.server).toMatchObject({
      status: 'fail',
      found: expect.stringMatching(/reached/),
    });
    const { runDoctor } = await setDoctorScene({ ANTHROPIC_BASE_URL: 'localhost' });
    expect((await runDoctor()).checks.server).toMatchObject({
      status: 'fail',
      fix: expect.anything(),
    });
  });

  test('names an unreadable settings file and runs the other checks', async () => {
    const { runDoctor, workspace } = await setDoctorScene();
    await mkdir(join(workspace, '.claude'));
    const file = join(workspace, '.claude', 'settings.json');
    await writeFile(file, '{ nope');
    const { code, checks } = await runDoctor();
    expect(code).toBe(1);
    expect(checks.settings).toMatchObject({ status: 'fail', found: expect.stringContaining(file) });
    expect(checks.key).toMatchObject({ status: 'ok' });
  });

  test('reports a state directory that is not writable or that other users can read', async () => {
    const { runDoctor } = await setDoctorScene({ SKEIN_HOME: '/dev/null/x' });
    expect((await runDoctor()).checks.state).toMatchObject({
      status: 'fail',
      found: expect.stringContaining('/dev/null/x cannot be written'),
    });
    const open = await setDoctorScene();
    await mkdir(open.skeinHome);
    await chmod(open.skeinHome, 0o755);
    expect((await open.runDoctor()).checks.state).toMatchObject({
      status: 'warn',
      fix: expect.stringMatching(/chmod/),
    });
  });

  test('reports programs that are missing from the PATH without a failure', async () => {
    const { runDoctor, root } = await setDoctorScene();
    const bin = join(root, 'bin');
    await mkdir(bin);
    await symlink(process.execPath, join(bin, 'node'));
    const { code, checks } = await runDoctor({ env: { PATH: bin } });
    expect(code).toBe(0);
    expect(checks.git).toMatchObject({ status: 'warn', found: 'not on the PATH' });
    for (const name of ['bubblewrap', 'redis'])
      expect(checks[name]).toMatchObject({ status: 'note' });
  });

  test('reports a program that hangs or fails as not working', async () => {
    const { runDoctor, root } = await setDoctorScene();
    const bin = join(root, 'bin');
    await mkdir(bin);
    await symlink(process.execPath, join(bin, 'node'));
    await writeFile(join(bin, 'git'), '#!/bin/sh\nexec /bin/sleep 600\n', { mode: 0o755 });
    await writeFile(join(bin, 'bwrap'), '#!/bin/sh\necho broken >&2\nexit 3\n', { mode: 0o755 });
    const { checks } = await runDoctor({ env: { PATH: bin } });
    expect(checks.git).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(/does not work/),
    });
    expect(checks.bubblewrap?.found).toContain('broken');
  });
});

describe('skein doctor with a broken Redis', () => {
  test.each([
    ['requires a password', '-NOAUTH Authentication required.\r\n', /NOAUTH/],
    ['is another kind of server', 'x'.repeat(10_000), /cannot be used/],
    ['never replies', '', /no answer in time/],
  ])('that %s fails, because the configured store is needed', async (_, answer, expected) => {
    const { port } = await startFixedReplyServer(answer);
    const { runDoctor } = await setDoctorScene({ SKEIN_STORE: `redis://127.0.0.1:${port}` });
    const { code, checks } = await runDoctor();
    expect(code).toBe(1);
    expect(checks.redis).toMatchObject({ status: 'fail', found: expect.stringMatching(expected) });
    expect(checks.swarms).toMatchObject({ status: 'note' });
  });

  test.each([
    ['redis://:hush123@127.0.0.1:1', /ECONNREFUSED/],
    ['unix:///no/such/socket', /ENOENT/],
    ['redis+sentinel://:hush123@127.0.0.1:1/x', /cannot be used/],
    ['redis://:hush@123@127.0.0.1', /%40/],
  ])('at %s reports the error without the password', async (url, expected) => {
    const { runDoctor } = await setDoctorScene({ SKEIN_REDIS_URL: url });
    const { checks, stdout } = await runDoctor();
    expect(checks.redis).toMatchObject({ status: 'fail', found: expect.stringMatching(expected) });
    expect(stdout).not.toMatch(/hush|123@/);
  });
});

needs.describe('own-redis')('skein doctor with a real Redis', () => {
  test('signs in and lists the remaining keys of each swarm, as JSON and as text', async () => {
    const { port } = await plainServer('--requirepass', 'hush123');
    const url = `redis://:hush123@127.0.0.1:${port}`;
    const { runDoctor, run } = await setDoctorScene({ SKEIN_REDIS_URL: url });
    await run(['-p', 'hello', '--session-id', 'left'], { env: { SKEIN_REDIS_URL: url } });
    const { checks, stdout } = await runDoctor();
    expect(checks.redis).toMatchObject({ status: 'ok', found: `127.0.0.1:${port} answers` });
    expect(checks.swarms).toMatchObject({
      status: 'ok',
      items: [
        {
          swarm: 'left',
          hasLead: false,
          worked: 0,
          waitingJobs: 0,
          unreadLetters: 0,
          deadLetters: 0,
          openQuestions: 0,
          lasting: 0,
          keys: expect.any(Number),
          bytes: expect.any(Number),
          changedAt: expect.stringMatching(/^20/),
        },
      ],
    });
    expect(stdout).not.toContain('hush123');
    const { stdout: text } = await run(['doctor'], { env: { SKEIN_REDIS_URL: url } });
    expect(text).toMatch(/left: \d+ keys, .*, changed just now, not running/);
    expect(text).toContain('skein sessions prune');
  });

  test('warns about keys that never expire, including keys of an unlisted swarm', async () => {
    const { port } = await plainServer();
    const url = `redis://127.0.0.1:${port}`;
    const redis = await connectRedis(url);
    onTestFinished(() => redis.close());
    await redis.call('SET', 'skein:1:{ghost}:epoch', '1');
    await redis.call('SET', 'skein:1:{ghost}:lease:lead', '{}', 'PX', '60000');
    await redis.call('RPUSH', 'skein:1:{ghost}:dead-letters:lead', 'one', 'two');
    await redis.call('SET', 'somebody-else', '1');
    const { runDoctor } = await setDoctorScene({ SKEIN_REDIS_URL: url });
    const { checks } = await runDoctor();
    expect(checks.swarms).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('never expire'),
      items: [
        { swarm: 'ghost', keys: 3, lasting: 2, hasLead: true, deadLetters: 2, changedAt: null },
      ],
    });
  });

  test('warns about a Redis that evicts keys when its memory is full', async () => {
    const { port } = await plainServer('--maxmemory-policy', 'allkeys-lru');
    const { runDoctor } = await setDoctorScene({ SKEIN_REDIS_URL: `redis://127.0.0.1:${port}` });
    const { checks } = await runDoctor();
    expect(checks.redis).toMatchObject({
      status: 'warn',
      found: `127.0.0.1:${port} answers, but evicts keys when its memory is full (allkeys-lru)`,
      fix: expect.stringContaining('maxmemory-policy'),
    });
  });
});
