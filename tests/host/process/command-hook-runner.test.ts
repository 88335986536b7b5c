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
import { eventually } from '../../fakes/eventually.js';
import { allDead, WATCHDOG } from './processes.js';

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
  test('reads JSON and returns its exit code and output', async () => {
    expect(await run('cat; echo no >&2; exit 2')).toEqual({
      kind: 'exited',
      exitCode: 2,
      stdout: '{"tool_name":"Edit"}',
      stderr: 'no\n',
      isCut: false,
    });
  });

  test('can open its input as /dev/stdin', async () => {
    const code = 'process.stdout.write(require("fs").readFileSync("/dev/stdin"))';
    expect(await run(node(code))).toMatchObject({ stdout: '{"tool_name":"Edit"}' });
  });

  test('has its folder, the project variables and no secrets', async () => {
    const cwd = await realpath(await mkdtemp(join(tmpdir(), 'hook-')));
    const command = 'pwd; echo $CLAUDE_PROJECT_DIR $SKEIN_PROJECT_DIR; env';
    const end = await run(command, { cwd });
    const stdout = end.kind === 'exited' ? end.stdout : '';
    expect(stdout.startsWith(`${cwd}\n/the/project /the/project\n`)).toBe(true);
    expect(stdout).not.toContain('hush');
  });

  test('that never reads a long input does not block', async () => {
    const input = JSON.stringify({ content: 'x'.repeat(5_000_000) });
    expect(await run('exit 0', { input })).toMatchObject({ exitCode: 0 });
    expect(await run('wc -c', { input })).toMatchObject({ stdout: `${input.length}\n` });
  });

  test('that closes its streams returns empty output', async () => {
    expect(await run('exec <&- >&- 2>&-; exit 2')).toMatchObject({ exitCode: 2, stderr: '' });
  });

  test.each([
    ['sleeps', 'sleep 1000 & echo $! ; sleep 1000'],
    ['ignores SIGTERM', 'trap "" TERM; sleep 1000 & echo $! ; while :; do sleep 1; done'],
    ['starts a new session', 'setsid sleep 1000 & echo $!; sleep 1000'],
  ])('that never ends (%s) is killed with its children', async (_, command) => {
    const pidFile = join(await mkdtemp(join(tmpdir(), 'hook-')), 'pid');
    const end = await run(`(${command}) > ${pidFile}`, { timeoutMs: 700 });
    expect(end).toEqual({ kind: 'timeout', timeoutMs: 700 });
    const pid = Number(await readFile(pidFile, 'utf8'));
    expect(pid).toBeGreaterThan(1);
    await eventually('its children are gone', () => allDead([pid]));
  });

  test('that prints without end is killed at its time limit', async () => {
    expect(await run('yes', { timeoutMs: 700 })).toMatchObject({ kind: 'timeout' });
  });

  test('that prints 100 MB keeps the first part of its output and ends normally', async () => {
    const end = await run('head -c 104857600 /dev/zero | tr "\\0" "x"; exit 0');
    expect(end).toMatchObject({ kind: 'exited', exitCode: 0, isCut: true });
    expect(end.kind === 'exited' && end.stdout.length).toBe(MAX_HOOK_OUTPUT_BYTES);
  });

  test('ends although its child keeps the pipes open', async () => {
    const end = await run('sleep 1000 & setsid sleep 1000 & echo ok');
    expect(end).toMatchObject({ kind: 'exited', exitCode: 0, stdout: 'ok\n' });
  });

  test('that is killed by a signal has failed', async () => {
    expect(await run('kill -9 $$')).toEqual({ kind: 'failed', why: 'it was ended by SIGKILL' });
  });

  test('that prints invalid UTF-8 returns well-formed text', async () => {
    const end = await run('printf "\\377\\376\\303"');
    expect(end.kind === 'exited' && end.stdout.isWellFormed()).toBe(true);
    expect(end).toMatchObject({ stdout: '\ufffd\ufffd\ufffd' });
  });

  test('that does not exist exits with 127, and a failed start is reported', async () => {
    expect(await run('/no/such/hook')).toMatchObject({ exitCode: 127 });
    const broken = { run: () => Promise.reject(new Error('no more processes')) };
    const { signal } = new AbortController();
    const request = { command: 'true', cwd: '/', input: '', timeoutMs: 1, signal };
    expect(await commandHookRunner(broken, '/')(request)).toEqual({
      kind: 'failed',
      why: 'it could not be started: no more processes',
    });
  });

  test('runs in the project folder, or else in /, if its folder is gone', async () => {
    expect(await run('pwd; exit 2', { cwd: '/gone' })).toMatchObject({
      stdout: '/\n',
      exitCode: 2,
    });
    const project = await realpath(await mkdtemp(join(tmpdir(), 'hook-')));
    const inProject = commandHookRunner(hostShell({ environment, watchdog }), project);
    const { signal } = new AbortController();
    const request = { command: 'pwd', cwd: '/gone', input: '', timeoutMs: 60_000, signal };
    expect(await inProject(request)).toMatchObject({ stdout: `${project}\n` });
  });

  test('is stopped when its signal aborts', async () => {
    const controller = new AbortController();
    const end = run('sleep 1000', { signal: controller.signal });
    setTimeout(() => controller.abort(), 300);
    expect(await end).toEqual({ kind: 'aborted' });
    expect(await run('true', { signal: AbortSignal.abort() })).toEqual({ kind: 'aborted' });
  });

  test('with huge or deeply nested JSON makes no decision', async () => {
    const huge = node('console.log(JSON.stringify({ decision: "block", x: "y".repeat(3e6) }))');
    const brackets = '"[".repeat(4e5), "]".repeat(4e5)';
    const begin = '"{\\"hookSpecificOutput\\":{\\"updatedInput\\":{\\"a\\":"';
    const deep = node(`console.log([${begin}, ${brackets}, "}}}"].join(""))`);
    for (const command of [huge, deep]) {
      const output = readHookOutput('PreToolUse', 'hook', await run(command));
      expect(output).toMatchObject({ outcome: 'failed' });
      expect(output.permission).toBeUndefined();
    }
  });
});
