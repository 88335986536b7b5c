import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { plainServer } from '../../fakes/redis/redis-servers.js';
import { type Line, type RunOptions, setScene } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

/** What the doctor finds, by the name of the check. */
const examine = async (env: Record<string, string | undefined> = {}, ...flags: string[]) => {
  const scene = await setScene();
  const look = async (options: RunOptions = {}) => {
    const { code, stdout, stderr } = await scene.run(['doctor', '--json', ...flags], {
      env,
      ...options,
    });
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Line[] };
    return { code, ok, stdout, stderr, of: Object.fromEntries(checks.map((it) => [it.name, it])) };
  };
  return { ...scene, look };
};

/** A server that says `answer` to whatever it hears, and keeps what that was. */
const serverThatSays = async (answer: string) => {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      heard.push(data.toString());
      // Commands may come together, and each wants an answer.
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
  return { heard, port: typeof address === 'object' ? address?.port : 0 };
};

describe('skein doctor', () => {
  test('looks at everything in a fixed order, and is content with a machine that has what it needs', async () => {
    const { look, skeinHome, home } = await examine();
    const { code, ok, of, stdout, stderr } = await look();
    expect(Object.keys(of)).toEqual([
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
      expect(of[name]).toMatchObject({ status: 'ok' });
    }
    expect(stdout).not.toContain('sk-of-the-test');
    // It leaves nothing behind, not even the state directory.
    expect(await readdir(home)).toEqual([]);
    expect(of.state?.found).toContain(skeinHome);
  });

  test('tells people the same in lines, with a fix for what fails', async () => {
    const { run } = await setScene();
    const { code, stdout } = await run(['doctor'], { env: { ANTHROPIC_API_KEY: '' } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ok {4}node {8}v\d+/m);
    expect(stdout).toMatch(/^FAIL {2}key {9}no key is set\n {18}Set ANTHROPIC_API_KEY/m);
    expect(stdout).toMatch(/fix key\.\n$/);
  });

  test('asks nothing of the server unless it is told to', async () => {
    const offline = await examine();
    await offline.look();
    expect(offline.simulator.requests).toEqual([]);
    const online = await examine({}, '--online');
    expect((await online.look()).of.server).toMatchObject({
      status: 'ok',
      found: expect.stringMatching(/answers and accepts the key/),
    });
    expect(online.simulator.requests.map(({ path }) => path)).toEqual(['/v1/models']);
  });

  test('says that a server cannot be reached, or that its address is none', async () => {
    const gone = await examine({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }, '--online');
    const found = await gone.look();
    expect(found.code).toBe(1);
    expect(found.of.server).toMatchObject({
      status: 'fail',
      found: expect.stringMatching(/reached/),
    });
    const { look } = await examine({ ANTHROPIC_BASE_URL: 'localhost' });
    expect((await look()).of.server).toMatchObject({ status: 'fail', fix: expect.anything() });
  });

  test('names a settings file that cannot be read, and still does the rest', async () => {
    const { look, workspace } = await examine();
    await mkdir(join(workspace, '.claude'));
    const file = join(workspace, '.claude', 'settings.json');
    await writeFile(file, '{ nope');
    const { code, of } = await look();
    expect(code).toBe(1);
    expect(of.settings).toMatchObject({ status: 'fail', found: expect.stringContaining(file) });
    expect(of.key).toMatchObject({ status: 'ok' });
  });

  test('says where state cannot be kept, and who else can look into it', async () => {
    const { look } = await examine({ SKEIN_HOME: '/dev/null/x' });
    expect((await look()).of.state).toMatchObject({
      status: 'fail',
      found: expect.stringContaining('/dev/null/x cannot be written'),
    });
    const open = await examine();
    await mkdir(open.skeinHome);
    await chmod(open.skeinHome, 0o755);
    expect((await open.look()).of.state).toMatchObject({
      status: 'warn',
      fix: expect.stringMatching(/chmod/),
    });
  });

  test('notes what is missing from the PATH, and does not fail for it', async () => {
    const { look, root } = await examine();
    const bin = join(root, 'bin');
    await mkdir(bin);
    await symlink(process.execPath, join(bin, 'node'));
    const { code, of } = await look({ env: { PATH: bin } });
    expect(code).toBe(0);
    expect(of.git).toMatchObject({ status: 'warn', found: 'not on the PATH' });
    for (const name of ['bubblewrap', 'redis']) expect(of[name]).toMatchObject({ status: 'note' });
  });

  test('is not held up by a program that never ends, nor fooled by one that fails', async () => {
    const { look, root } = await examine();
    const bin = join(root, 'bin');
    await mkdir(bin);
    await symlink(process.execPath, join(bin, 'node'));
    await writeFile(join(bin, 'git'), '#!/bin/sh\nexec /bin/sleep 600\n', { mode: 0o755 });
    await writeFile(join(bin, 'bwrap'), '#!/bin/sh\necho broken >&2\nexit 3\n', { mode: 0o755 });
    const { of } = await look({ env: { PATH: bin } });
    expect(of.git).toMatchObject({ status: 'warn', found: expect.stringMatching(/does not work/) });
    expect(of.bubblewrap?.found).toContain('broken');
  });
});

describe('the doctor at a Redis', () => {
  test.each([
    ['wants a password', '-NOAUTH Authentication required.\r\n', /NOAUTH/],
    ['is something else', 'x'.repeat(10_000), /cannot be used/],
    ['says nothing', '', /no answer in time/],
  ])('that %s fails, because nothing runs without it', async (_, answer, found) => {
    const { port } = await serverThatSays(answer);
    const { look } = await examine({ SKEIN_STORE: `redis://127.0.0.1:${port}` });
    const { code, of } = await look();
    expect(code).toBe(1);
    expect(of.redis).toMatchObject({ status: 'fail', found: expect.stringMatching(found) });
    expect(of.swarms).toMatchObject({ status: 'note' });
  });

  test.each([
    ['redis://:hush123@127.0.0.1:1', /ECONNREFUSED/],
    ['unix:///no/such/socket', /ENOENT/],
    ['redis+sentinel://:hush123@127.0.0.1:1/x', /cannot be used/],
    ['redis://:hush@123@127.0.0.1', /%40/],
  ])('at %s says what is wrong, and never the password', async (url, found) => {
    const { look } = await examine({ SKEIN_REDIS_URL: url });
    const { of, stdout } = await look();
    expect(of.redis).toMatchObject({ status: 'fail', found: expect.stringMatching(found) });
    expect(stdout).not.toMatch(/hush|123@/);
  });
});

needs.describe('own-redis')('the doctor at a real Redis', () => {
  test('signs in, and lists what each swarm left, with all of it for programs', async () => {
    const { port } = await plainServer('--requirepass', 'hush123');
    const url = `redis://:hush123@127.0.0.1:${port}`;
    const { look, run } = await examine({ SKEIN_REDIS_URL: url });
    await run(['-p', 'hello', '--session-id', 'left'], { env: { SKEIN_REDIS_URL: url } });
    const { of, stdout } = await look();
    expect(of.redis).toMatchObject({ status: 'ok', found: `127.0.0.1:${port} answers` });
    expect(of.swarms).toMatchObject({
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

  test('warns of keys that would stay for ever, and sees a swarm that no list knows of', async () => {
    const { port } = await plainServer();
    const url = `redis://127.0.0.1:${port}`;
    const broker = await connectRedis(url);
    onTestFinished(() => broker.close());
    await broker.call('SET', 'skein:1:{ghost}:epoch', '1');
    await broker.call('SET', 'skein:1:{ghost}:lease:lead', '{}', 'PX', '60000');
    await broker.call('RPUSH', 'skein:1:{ghost}:dead-letters:lead', 'one', 'two');
    await broker.call('SET', 'somebody-else', '1');
    const { look } = await examine({ SKEIN_REDIS_URL: url });
    const { of } = await look();
    expect(of.swarms).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('never expire'),
      items: [
        { swarm: 'ghost', keys: 3, lasting: 2, hasLead: true, deadLetters: 2, changedAt: null },
      ],
    });
  });

  test('warns of one that throws keys away when it is full', async () => {
    const { port } = await plainServer('--maxmemory-policy', 'allkeys-lru');
    const { look } = await examine({ SKEIN_REDIS_URL: `redis://127.0.0.1:${port}` });
    const { of } = await look();
    expect(of.redis).toMatchObject({
      status: 'warn',
      found: `127.0.0.1:${port} answers, but evicts keys when its memory is full (allkeys-lru)`,
      fix: expect.stringContaining('maxmemory-policy'),
    });
  });
});
