/** Tests the rights of a command inside a real bubblewrap, and that all its processes die. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hostShell } from '../../../src/host/process/host-shell.js';
import { ownerMarker } from '../../../src/host/process/ownership/owner-marker.js';
import { watchdogLink } from '../../../src/host/process/ownership/watchdog-link.js';
import { sandboxOf, sandboxProblem } from '../../../src/host/sandbox/sandbox.js';
import { needs } from '../../setup/needs.js';
import { WATCHDOG } from '../process/processes.js';

/**
 * The hidden folders are in the workspace, because the sandbox shows no other part of the temporary
 * folder.
 */
const setUp = () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'skein-cage-')));
  const at = (path: string) => join(top, path);
  for (const folder of [
    'repo/.git/hooks',
    'repo/.claude',
    'repo/home/.ssh',
    'repo/state/sessions',
    'temp',
    'other',
  ]) {
    mkdirSync(at(folder), { recursive: true });
  }
  writeFileSync(at('repo/.git/hooks/pre-push'), 'mine');
  writeFileSync(at('repo/.git/config'), 'mine');
  writeFileSync(at('repo/.claude/settings.json'), '{}');
  writeFileSync(at('repo/home/.ssh/id'), 'KEY');
  writeFileSync(at('repo/home/.netrc'), 'KEY');
  writeFileSync(at('repo/state/sessions/s'), 'KEY');
  const paths = {
    writable: [at('repo')],
    temporary: at('temp'),
    hidden: [
      at('repo/state'),
      at('repo/home/.ssh'),
      at('repo/home/.netrc'),
      at('repo/home/nothing'),
    ],
  };
  const PATH = process.env.PATH ?? '';
  const sandbox = sandboxOf(paths, {
    environment: { PATH },
    home: at('home'),
    registers: at('registers'),
  });
  const watchdog = watchdogLink({ command: WATCHDOG, marker: ownerMarker('o_test') });
  onTestFinished(() => watchdog.dismiss());
  const environment = { PATH, TMPDIR: at('temp') };
  const shell = hostShell({ environment, watchdog, sandbox });
  const run = async (command: string, options: { timeoutMs?: number; cwd?: string } = {}) => {
    let output = '';
    const end = await shell.run({
      command,
      cwd: options.cwd ?? at('repo'),
      signal: new AbortController().signal,
      timeoutMs: options.timeoutMs ?? 20_000,
      onOutput: (_, chunk) => {
        output += Buffer.from(chunk).toString();
      },
    });
    return { ...end, output };
  };
  return { at, run };
};

needs.describe('bwrap')('a command in the sandbox', () => {
  test('writes in the workspace and in its temporary folder', async () => {
    const { at, run } = setUp();
    expect(await run('echo a > new && echo b > "$TMPDIR/b" && cat new')).toMatchObject({
      exitCode: 0,
      output: 'a\n',
    });
    expect(readFileSync(at('repo/new'), 'utf8') + readFileSync(at('temp/b'), 'utf8')).toBe(
      'a\nb\n',
    );
  });

  test('cannot write to other folders', async () => {
    const { at, run } = setUp();
    const places = [at('other/x'), `/etc/skein-${process.pid}`, `/usr/skein-${process.pid}`];
    onTestFinished(() => {
      for (const path of places) rmSync(path, { force: true });
    });
    const outside = await run(`touch ${places.join(' ')} "$HOME/x"`);
    expect(outside.exitCode).not.toBe(0);
    expect(places.filter((path) => existsSync(path))).toEqual([]);
  });

  test('cannot change files that act outside later: hooks, configuration, settings', async () => {
    const { at, run } = setUp();
    await run(
      'for f in .git/hooks/pre-push .git/hooks/new .git/config .claude/settings.json; do echo evil > $f; mv $f $f.old; done',
    );
    expect(readFileSync(at('repo/.git/hooks/pre-push'), 'utf8')).toBe('mine');
    expect(readFileSync(at('repo/.git/config'), 'utf8')).toBe('mine');
    expect(readFileSync(at('repo/.claude/settings.json'), 'utf8')).toBe('{}');
    expect(existsSync(at('repo/.git/hooks/new'))).toBe(false);
  });

  test('sees neither the state of Skein nor credentials', async () => {
    const { at, run } = setUp();
    const { output } = await run(
      `ls -A ${at('repo/state')} ${at('repo/home/.ssh')}; cat ${at('repo/state/sessions/s')} ${at('repo/home/.ssh/id')} ${at('repo/home/.netrc')}`,
    );
    expect(output).not.toContain('KEY');
    expect(output).toContain('No such file');
  });

  test('reaches no server, not even on this machine', async () => {
    const { run } = setUp();
    let visits = 0;
    const server = createServer((_, response) => {
      visits += 1;
      response.end('hello');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const ask = `exec 5<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&5 && cat <&5`;
    expect((await run(ask)).exitCode).not.toBe(0);
    expect(visits).toBe(0);
  });

  test('sees only its own processes and environment', async () => {
    const { run } = setUp();
    const { output } = await run(
      'ls /proc | grep -c "^[0-9]*$"; cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep -c VITEST',
    );
    const [processes = '', others = ''] = output.split('\n');
    expect(Number(processes)).toBeLessThan(12);
    expect(Number(others)).toBe(0);
  });

  test('reports its exit code and its directory', async () => {
    const { at, run } = setUp();
    expect(await run('mkdir -p sub && cd sub && exit 7')).toMatchObject({
      exitCode: 7,
      cwd: at('repo/sub'),
    });
  });

  test('is stopped after its time limit with all processes outside of its group', async () => {
    const { at, run } = setUp();
    const stays =
      'setsid sh -c "while :; do date +%s%N > beat; sleep 0.05; done" & setsid sleep 600 & sleep 600';
    expect(await run(stays, { timeoutMs: 1_500 })).toMatchObject({ reason: 'timeout' });
    const beat = readFileSync(at('repo/beat'), 'utf8');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(readFileSync(at('repo/beat'), 'utf8')).toBe(beat);
  });

  test('leaves no processes behind when it ends', async () => {
    const { at, run } = setUp();
    await run(
      'setsid sh -c "while :; do date +%s%N > beat; sleep 0.05; done" >/dev/null 2>&1 & sleep 0.3',
    );
    const beat = readFileSync(at('repo/beat'), 'utf8');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(readFileSync(at('repo/beat'), 'utf8')).toBe(beat);
  });
});

describe('a machine without a sandbox', () => {
  test('gets a message that names the missing program', async () => {
    expect(await sandboxProblem({ PATH: '/nowhere' })).toContain('bubblewrap');
  });
});
