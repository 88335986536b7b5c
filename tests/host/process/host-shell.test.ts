import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hostShell } from '../../../src/host/process/host-shell.js';
import { childEnvironment } from '../../../src/host/process/ownership/child-environment.js';
import { ownerMarker } from '../../../src/host/process/ownership/owner-marker.js';
import { watchdogLink } from '../../../src/host/process/ownership/watchdog-link.js';
import type { ShellCommand } from '../../../src/protocol/tools/shell.js';
import { eventually } from '../../fakes/eventually.js';
import { allDead, isAlive, WATCHDOG } from './processes.js';

const marker = ownerMarker('shell-test');
const watchdog = watchdogLink({ command: WATCHDOG, marker });
const secrets = {
  ...process.env,
  ANTHROPIC_API_KEY: 'hush',
  GITHUB_TOKEN: 'hush',
  OTHER: `ghp_${'x'.repeat(36)}`,
};
const shell = hostShell({ environment: childEnvironment(secrets, marker, tmpdir()), watchdog });

const run = async (command: string, options: Partial<ShellCommand> = {}) => {
  const output = { stdout: '', stderr: '' };
  const end = await shell.run({
    command,
    cwd: tmpdir(),
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    onOutput(stream, chunk) {
      output[stream] += Buffer.from(chunk).toString();
    },
    ...options,
  });
  return { ...end, ...output };
};

/** Pids that the command printed, one per line. */
const pids = (text: string) => text.trim().split('\n').map(Number);

describe('the host shell', () => {
  test('separates stdout and stderr', async () => {
    expect(await run('echo out; echo err >&2')).toMatchObject({ stdout: 'out\n', stderr: 'err\n' });
  });

  test('lets programs open their streams by name', async () => {
    const { stdout, stderr } = await run('echo out | tee /dev/stderr > /dev/stdout');
    expect([stdout, stderr]).toEqual(['out\n', 'out\n']);
  });

  test.each([
    ['true', 0],
    ['exit 3', 3],
    ['false', 1],
    ['exec sh -c "exit 7"', 7],
    ['no-such-program', 127],
    ["sh -c 'kill -9 $$'", 137],
    ['set -e; false; echo no', 1],
    ['if', 2],
  ])('returns the exit code of its command: %s', async (command, exitCode) => {
    expect(await run(command)).toMatchObject({ reason: 'exited', exitCode, signal: null });
  });

  test('reports the signal that killed it', async () => {
    expect(await run('kill -9 $$')).toMatchObject({
      exitCode: null,
      signal: 'SIGKILL',
      cwd: undefined,
    });
  });

  test('reports its last folder, even after a failure and with special characters', async () => {
    const directory = await realpath(await mkdtemp(join(tmpdir(), "skein it's\n")));
    expect(await run('cd .. && false', { cwd: directory })).toMatchObject({
      cwd: join(directory, '..'),
    });
    expect(await run('exit 4', { cwd: directory })).toMatchObject({ cwd: directory, exitCode: 4 });
    expect(await run('(cd /)', { cwd: directory })).toMatchObject({ cwd: directory });
    await rm(directory, { recursive: true });
  });

  test('does not report its last folder after exec', async () => {
    expect(await run('cd /; exec true')).toMatchObject({ exitCode: 0, cwd: undefined });
  });

  test('leaves descriptor 3 and heredocs to the command', async () => {
    const { stdout, cwd } = await run("exec 3>&1; echo hi >&3; cat <<'E'\n$x `y`\nE\ncd /");
    expect(stdout).toBe('hi\n$x `y`\n');
    expect(cwd).toBe('/');
  });

  test('has an empty input', async () => {
    expect(await run('cat; read x; echo "<$x>"')).toMatchObject({ stdout: '<>\n' });
  });

  test('rejects a missing directory', async () => {
    await expect(run('true', { cwd: '/no/such/place' })).rejects.toMatchObject({ why: 'missing' });
  });

  test('passes on no secrets', async () => {
    const { stdout } = await run('env; cat /proc/self/environ 2>/dev/null');
    expect(stdout).not.toMatch(/hush|ghp_/);
    expect(stdout).toContain(`SKEIN_OWNER=${marker}`);
  });

  test('returns all of a long output', async () => {
    const { stdout } = await run('seq 1 500000');
    expect(stdout.length).toBe(3_388_895);
    expect(stdout.endsWith('\n499999\n500000\n')).toBe(true);
  });

  test('runs many commands at the same time', async () => {
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, n) => run(`echo ${n}; exit ${n}`)),
    );
    expect(ends.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(
      ends.map((_, n) => [n, `${n}\n`]),
    );
  });
});

describe('a command with background processes', () => {
  test('ends with its shell, and its process group is killed', async () => {
    const { stdout, exitCode } = await run('sleep 1000 & echo $!; (sleep 1000 & echo $!)');
    expect(exitCode).toBe(0);
    await eventually('both sleepers are dead', () => allDead(pids(stdout)));
  });

  test('cannot keep a process in a new session', async () => {
    const { stdout } = await run("setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.5");
    await eventually('the sleeper is dead', () => allDead(pids(stdout)));
  });

  test('cannot keep a process with closed streams', async () => {
    const { stdout } = await run(
      "setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1 </dev/null' & sleep 0.5",
    );
    await eventually('the sleeper is dead', () => allDead(pids(stdout)));
  });
});

describe('a command that must stop', () => {
  test('is killed at its time limit, with its children inside and outside of its group', async () => {
    const { stdout, reason } = await run(
      "echo $$; sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & wait",
      { timeoutMs: 1_500 },
    );
    expect(reason).toBe('timeout');
    expect(pids(stdout)).toHaveLength(3);
    await eventually('all processes are dead', () => allDead(pids(stdout)));
  });

  test('is killed if it ignores SIGTERM', async () => {
    const { stdout, reason } = await run("trap '' TERM; echo $$; while :; do sleep 0.1; done", {
      timeoutMs: 500,
    });
    expect(reason).toBe('timeout');
    expect(isAlive(Number(stdout))).toBe(false);
  });

  test('is stopped by an interrupt and keeps its output', async () => {
    const interrupt = new AbortController();
    let stdout = '';
    const end = await run('echo $$; sleep 1000', {
      signal: interrupt.signal,
      onOutput(_, chunk) {
        stdout += Buffer.from(chunk).toString();
        interrupt.abort();
      },
    });
    expect(end).toMatchObject({ reason: 'aborted', exitCode: null });
    expect(isAlive(Number(stdout))).toBe(false);
  });

  test('is stopped by an interrupt during its start', async () => {
    const interrupt = new AbortController();
    const end = run('sleep 1000', { signal: interrupt.signal });
    interrupt.abort();
    expect(await end).toMatchObject({ reason: 'aborted' });
  });

  test('does not start after an interrupt', async () => {
    expect(await run('echo hi', { signal: AbortSignal.abort() })).toMatchObject({
      reason: 'aborted',
      stdout: '',
    });
  });
});
