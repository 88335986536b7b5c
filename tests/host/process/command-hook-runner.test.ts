import { mkdtemp, readFile, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  commandHookRunner,
  MAX_HOOK_OUTPUT_BYTES,
} from '../../../src/host/process/command-hook-runner.js';
import { hostShell } from '../../../src/host/process/host-shell.js';
import { childEnvironment } from '../../../src/host/process/ownership/child-environment.js';
import { ownerMarker } from '../../../src/host/process/ownership/owner-marker.js';
import { watchdogLink } from '../../../src/host/process/ownership/watchdog-link.js';
import { readHookOutput } from '../../../src/policy/hooks/hook-output.js';
import type { HookCommand } from '../../../src/protocol/permission/hook-setup.js';
import { allDead, eventually, WATCHDOG } from './processes.js';

const marker = ownerMarker('hook-test');
const watchdog = watchdogLink({ command: WATCHDOG, marker });
const secrets = { ...process.env, ANTHROPIC_API_KEY: 'hush', DEPLOY_TOKEN: 'hush' };
const environment = childEnvironment(secrets, marker, tmpdir());
const hooks = commandHookRunner(hostShell({ environment, watchdog }), '/the/project');

const run = (command: string, options: Partial<HookCommand> = {}) =>
  hooks({
    command,
    cwd: tmpdir(),
    input: '{"tool_name":"Edit"}',
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...options,
  });

const node = (code: string) => `'${process.execPath}' -e '${code}'`;

describe('a command hook', () => {
  test('reads JSON and says how it ended', async () => {
    expect(await run('cat; echo no >&2; exit 2')).toEqual({
      kind: 'exited',
      exitCode: 2,
      stdout: '{"tool_name":"Edit"}',
      stderr: 'no\n',
      isCut: false,
    });
  });

  test('can open its input by name, as scripts do', async () => {
    const code = 'process.stdout.write(require("fs").readFileSync("/dev/stdin"))';
    expect(await run(node(code))).toMatchObject({ stdout: '{"tool_name":"Edit"}' });
  });

  test('has its place, the project, and no secrets', async () => {
    const cwd = await realpath(await mkdtemp(join(tmpdir(), 'hook-')));
    const said = 'pwd; echo $CLAUDE_PROJECT_DIR $SKEIN_PROJECT_DIR; env';
    const end = await run(said, { cwd });
    const stdout = end.kind === 'exited' ? end.stdout : '';
    expect(stdout.startsWith(`${cwd}\n/the/project /the/project\n`)).toBe(true);
    expect(stdout).not.toContain('hush');
  });

  test('that never reads its input holds nobody up, however long that is', async () => {
    const input = JSON.stringify({ content: 'x'.repeat(5_000_000) });
    expect(await run('exit 0', { input })).toMatchObject({ exitCode: 0 });
    expect(await run('wc -c', { input })).toMatchObject({ stdout: `${input.length}\n` });
  });

  test('that closes its streams has said nothing', async () => {
    expect(await run('exec <&- >&- 2>&-; exit 2')).toMatchObject({ exitCode: 2, stderr: '' });
  });

  test.each([
    ['sleeps', 'sleep 1000 & echo $! ; sleep 1000'],
    ['does not want to hear', 'trap "" TERM; sleep 1000 & echo $! ; while :; do sleep 1; done'],
    ['left with its own session', 'setsid sleep 1000 & echo $!; sleep 1000'],
  ])('that never ends (%s) is ended, with what it started', async (_, command) => {
    const began = join(await mkdtemp(join(tmpdir(), 'hook-')), 'pid');
    const end = await run(`(${command}) > ${began}`, { timeoutMs: 700 });
    expect(end).toEqual({ kind: 'timeout', timeoutMs: 700 });
    const pid = Number(await readFile(began, 'utf8'));
    expect(pid).toBeGreaterThan(1);
    await eventually('its children are gone', () => allDead([pid]));
  });

  test('that babbles for ever is ended, and its babble is bounded', async () => {
    expect(await run('yes', { timeoutMs: 700 })).toMatchObject({ kind: 'timeout' });
  });

  test('that prints 100 MB is heard as far as that goes, and may end', async () => {
    const end = await run('head -c 104857600 /dev/zero | tr "\\0" "x"; exit 0');
    expect(end).toMatchObject({ kind: 'exited', exitCode: 0, isCut: true });
    expect(end.kind === 'exited' && end.stdout.length).toBe(MAX_HOOK_OUTPUT_BYTES);
  });

  test('whose child holds the pipes does not hold us', async () => {
    const end = await run('sleep 1000 & setsid sleep 1000 & echo ok');
    expect(end).toMatchObject({ kind: 'exited', exitCode: 0, stdout: 'ok\n' });
  });

  test('that dies by a signal has failed', async () => {
    expect(await run('kill -9 $$')).toEqual({ kind: 'failed', why: 'it was ended by SIGKILL' });
  });

  test('that prints no text at all is heard as text', async () => {
    const end = await run('printf "\\377\\376\\303"');
    expect(end.kind === 'exited' && end.stdout.isWellFormed()).toBe(true);
    expect(end).toMatchObject({ stdout: '\ufffd\ufffd\ufffd' });
  });

  test('that does not exist has failed, and so has one that cannot be started', async () => {
    expect(await run('/no/such/hook')).toMatchObject({ exitCode: 127 });
    const broken = { run: () => Promise.reject(new Error('no more processes')) };
    const { signal } = new AbortController();
    const wanted = { command: 'true', cwd: '/', input: '', timeoutMs: 1, signal };
    expect(await commandHookRunner(broken, '/')(wanted)).toEqual({
      kind: 'failed',
      why: 'it could not be started: no more processes',
    });
  });

  test('runs in the project, or at least somewhere, when its place is gone', async () => {
    expect(await run('pwd; exit 2', { cwd: '/gone' })).toMatchObject({
      stdout: '/\n',
      exitCode: 2,
    });
    const project = await realpath(await mkdtemp(join(tmpdir(), 'hook-')));
    const inProject = commandHookRunner(hostShell({ environment, watchdog }), project);
    const { signal } = new AbortController();
    const wanted = { command: 'pwd', cwd: '/gone', input: '', timeoutMs: 60_000, signal };
    expect(await inProject(wanted)).toMatchObject({ stdout: `${project}\n` });
  });

  test('is ended when somebody else has decided', async () => {
    const controller = new AbortController();
    const end = run('sleep 1000', { signal: controller.signal });
    setTimeout(() => controller.abort(), 300);
    expect(await end).toEqual({ kind: 'aborted' });
    expect(await run('true', { signal: AbortSignal.abort() })).toEqual({ kind: 'aborted' });
  });

  test('with huge or hostile JSON decides nothing', async () => {
    const huge = node('console.log(JSON.stringify({ decision: "block", x: "y".repeat(3e6) }))');
    const brackets = '"[".repeat(4e5), "]".repeat(4e5)';
    const begin = '"{\\"hookSpecificOutput\\":{\\"updatedInput\\":{\\"a\\":"';
    const deep = node(`console.log([${begin}, ${brackets}, "}}}"].join(""))`);
    for (const command of [huge, deep]) {
      const said = readHookOutput('PreToolUse', 'hook', await run(command));
      expect(said).toMatchObject({ outcome: 'failed' });
      expect(said.permission).toBeUndefined();
    }
  });
});
