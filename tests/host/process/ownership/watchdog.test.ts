import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { hostShell } from '../../../../src/host/process/host-shell.js';
import { childEnvironment } from '../../../../src/host/process/ownership/child-environment.js';
import { watchdogLink } from '../../../../src/host/process/ownership/watchdog-link.js';
import { eventually } from '../../../fakes/eventually.js';
import { allDead, childrenOf, isAlive, WATCHDOG } from '../processes.js';

const FIXTURE = ['--import', 'tsx', 'tests/host/fixtures/owner.ts'];

/** Three sleepers: in the group, in the group without a marker, and out of the group. */
const SLEEPERS = `sleep 1000 & echo pid $!
  env -i sleep 1000 & echo pid $!
  setsid sh -c 'echo pid $$; exec sleep 1000' & wait`;

let owner: ChildProcess | undefined;
afterEach(() => owner?.kill('SIGKILL'));

const startOwner = async (command: string) => {
  const child = spawn(process.execPath, [...FIXTURE, command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ANTHROPIC_API_KEY: 'hush' },
  });
  owner = child;
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const sleepers = await eventually('three sleepers run', () => {
    const found = [...output.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
    return found.length === 3 && found;
  });
  const watchdog = Number(/"watchdog":(\d+)/.exec(output)?.[1]);
  return { pid: child.pid ?? 0, child, sleepers, watchdog };
};

describe('the watchdog', () => {
  test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'kills all processes when its owner ends by %s, then exits',
    async (signal) => {
      const { pid, sleepers, watchdog } = await startOwner(SLEEPERS);
      expect(sleepers.every(isAlive)).toBe(true);
      process.kill(pid, signal);
      await eventually('all sleepers are dead', () => allDead(sleepers));
      await eventually('the watchdog is gone too', () => allDead([watchdog]));
    },
  );

  test('that is dismissed kills the remaining processes, exits and is not replaced', async () => {
    const marker = `dismissed-${process.pid}`;
    const watchdog = watchdogLink({ command: WATCHDOG, marker });
    const environment = childEnvironment(process.env, marker, tmpdir());
    const shell = hostShell({ environment, watchdog });
    let output = '';
    const { signal } = new AbortController();
    const running = shell.run({
      command: 'setsid sh -c "echo pid \\$\\$; exec sleep 1000" & wait',
      cwd: '/',
      signal,
      timeoutMs: 60_000,
      onOutput: (_, chunk) => {
        output += Buffer.from(chunk).toString();
      },
    });
    const sleeper = await eventually(
      'the sleeper runs',
      () => Number(/pid (\d+)/.exec(output)?.[1]) || false,
    );
    const { pid = 0 } = watchdog;
    watchdog.dismiss();
    await eventually('the sleeper is dead', () => allDead([sleeper]));
    await eventually('the watchdog is gone', () => allDead([pid]));
    await running;
    expect(watchdog.pid).toBeUndefined();
  });

  test('is replaced when it dies, and the new watchdog knows all groups', async () => {
    const { pid, sleepers, watchdog } = await startOwner(SLEEPERS);
    process.kill(watchdog, 'SIGKILL');
    const successor = await eventually('there is another watchdog', () =>
      childrenOf(pid).find(
        (child) => child !== watchdog && commandLine(child).includes('watchdog'),
      ),
    );
    expect(sleepers.every(isAlive)).toBe(true);
    await eventually('the new watchdog is ready', () => ignoresTerm(successor));
    process.kill(pid, 'SIGKILL');
    await eventually('all sleepers are dead', () => allDead([...sleepers, successor]));
  });

  test('ignores signals for its owner', async () => {
    const { watchdog } = await startOwner(SLEEPERS);
    for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.kill(watchdog, signal);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isAlive(watchdog)).toBe(true);
  });

  const rule =
    process.platform === 'linux' ? {} : { skip: true, meta: { skipped: 'there is no /proc' } };

  test('inherits no secrets', rule, async () => {
    const { watchdog } = await startOwner(SLEEPERS);
    expect(readFileSync(`/proc/${watchdog}/environ`, 'utf8')).not.toContain('hush');
  });

  test('keeps neither its owner alive nor the streams of its owner open', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...FIXTURE, 'echo hello']);
    expect(stdout).toMatch(/hello\ndone\n$/);
  });

  test.each([
    ['cannot be found', ['/no/such/program']],
    ['ends at once', [process.execPath, '-e', 'process.exit(1)']],
  ])('is required: no command runs when it %s', async (_, command) => {
    const watchdog = watchdogLink({ command, marker: 'x' });
    const shell = hostShell({
      environment: childEnvironment(process.env, 'x', tmpdir()),
      watchdog,
    });
    const run = shell.run({
      command: 'echo hi',
      cwd: '/',
      timeoutMs: 1_000,
      signal: new AbortController().signal,
      onOutput: () => expect.unreachable(),
    });
    await expect(run).rejects.toMatchObject({ code: 'watchdog' });
  });

  test('starts once for many commands', async () => {
    const watchdog = watchdogLink({ command: WATCHDOG, marker: 'x' });
    await Promise.all([watchdog.ready(), watchdog.ready()]);
    const { pid } = watchdog;
    await watchdog.ready();
    expect(watchdog.pid).toBe(pid);
  });
});

const commandLine = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');

/** True if SIGTERM is in the mask of caught signals, which the program sets during its start. */
const ignoresTerm = (pid: number) => {
  const [, mask = '0'] =
    /^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) & (1n << 14n)) !== 0n;
};
