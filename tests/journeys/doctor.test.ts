import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Line, type RunOptions, setScene } from '../fakes/skein-process.js';

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
      socket.write(answer);
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
      ...['node', 'git', 'ripgrep', 'shell', 'watchdog', 'bubblewrap', 'state', 'disk'],
      ...['settings', 'key', 'server', 'proxy', 'redis', 'terminal'],
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
    expect(stdout).toMatch(/mend key\.\n$/);
  });

  test('asks nothing of the server unless it is told to', async () => {
    const offline = await examine();
    await offline.look();
    expect(offline.simulator.requests).toEqual([]);
    const online = await examine({}, '--online');
    expect((await online.look()).of.server).toMatchObject({
      ...{ status: 'ok', found: expect.stringMatching(/answers and knows the key/) },
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
      ...{ status: 'fail', found: expect.stringContaining('/dev/null/x cannot be written') },
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
  test('signs in, pings it, and shows no password', async () => {
    const { port, heard } = await serverThatSays('+OK\r\n+PONG\r\n');
    const { look } = await examine({ SKEIN_REDIS_URL: `redis://me:hush123@127.0.0.1:${port}` });
    const { of, stdout } = await look();
    expect(of.redis).toMatchObject({ status: 'ok', found: expect.stringMatching(/answers$/) });
    expect(heard.join('')).toBe(
      '*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$7\r\nhush123\r\n*1\r\n$4\r\nPING\r\n',
    );
    expect(stdout).not.toContain('hush123');
  });

  test.each([
    ['wants a password', '-NOAUTH Authentication required.\r\n', /NOAUTH/],
    ['is something else', 'x'.repeat(10_000), /not Redis/],
    ['says nothing', '', /no answer in time/],
  ])('that %s warns, and does not fail', async (_, answer, found) => {
    const { port } = await serverThatSays(answer);
    const { look } = await examine({ SKEIN_STORE: `redis://127.0.0.1:${port}` });
    const { code, of } = await look();
    expect(code).toBe(0);
    expect(of.redis).toMatchObject({ status: 'warn', found: expect.stringMatching(found) });
  });

  test.each([
    ['redis://127.0.0.1:1', 'warn', /ECONNREFUSED/],
    ['unix:///no/such/socket', 'warn', /ENOENT/],
    ['redis+sentinel://a:1/x', 'note', /no address that can be tried/],
  ])('at %s is a %s', async (url, status, found) => {
    const { look } = await examine({ SKEIN_REDIS_URL: url });
    expect((await look()).of.redis).toMatchObject({ status, found: expect.stringMatching(found) });
  });
});
