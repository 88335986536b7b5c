/** Law 12: no child process outlives a process of Skein, for any end of that process. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openPrintScene, type PrintScene } from '../workspace.js';

/**
 * Shell that waits for a sleeper in its group, after it started another sleeper outside of the
 * group.
 */
const files = {
  'spawn.sh':
    '#!/bin/bash\nsetsid sleep 1000 & echo $! >> pids\nsleep 1001 & echo $! >> pids\nwait\n',
};
const script = {
  rules: [
    {
      match: { turn: 0 },
      reply: { tool_use: [{ name: 'Bash', input: { command: './spawn.sh' } }] },
    },
    { reply: 'Done.' },
  ],
};

/** Keeps the run active until it is killed. */
const WAITS = {
  tool_use: [{ name: 'TaskOutput', input: { task_id: 'bash_1', timeout: 600_000 } }],
};
const spawns = { name: 'Bash', input: { command: './spawn.sh', run_in_background: true } };
const waitingInBackground = {
  rules: [
    { match: { turn: 0 }, reply: { tool_use: [spawns, spawns] } },
    { match: { turn: 1 }, reply: WAITS },
    { reply: 'Done.' },
  ],
};

const pids = ({ workspace }: PrintScene): readonly number[] => {
  const file = join(workspace, 'pids');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
};

const living = (some: readonly number[]): readonly number[] =>
  some.filter((pid) => {
    const stat = `/proc/${pid}/stat`;
    return existsSync(stat) && !/\) Z /.test(readFileSync(stat, 'utf8'));
  });

/** Waits for at most five seconds, the time that the law allows. */
const survivors = async (some: readonly number[]): Promise<readonly number[]> => {
  for (let look = 0; look < 50 && living(some).length > 0; look += 1) {
    await new Promise((next) => setTimeout(next, 100));
  }
  return living(some);
};

const watchdogsOf = (owner: number | undefined): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isWatchdogOf(pid, owner));

const isWatchdogOf = (pid: number, owner: number | undefined): boolean => {
  try {
    const [, parent] = /\) \w (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return Number(parent) === owner && command.includes('watchdog.cjs');
  } catch {
    return false;
  }
};

const startChildren = async (scene: PrintScene) => {
  const running = scene.start(['Go.', '--allowed-tools', 'Bash(./spawn.sh)']);
  while (pids(scene).length < 2) await new Promise((next) => setTimeout(next, 20));
  expect(living(pids(scene))).toHaveLength(2);
  return running;
};

const untilPids = async (scene: PrintScene, count: number): Promise<void> => {
  while (pids(scene).length < count) await new Promise((next) => setTimeout(next, 20));
};

describe('law 12, no orphans', () => {
  test.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'after %s no child is left, not even a child outside of the process group',
    async (signal) => {
      const scene = await openPrintScene(script, files);
      const running = await startChildren(scene);
      running.kill(signal);
      expect(await survivors(pids(scene))).toEqual([]);
      await running.ended;
      await scene.close();
    },
  );

  test('children of a dead owner are killed at the next start', async () => {
    const scene = await openPrintScene(script, files);
    const running = await startChildren(scene);
    // Without a watchdog the children survive their owner, but the next start kills them.
    running.kill('SIGSTOP');
    for (const pid of watchdogsOf(running.pid)) process.kill(pid, 'SIGKILL');
    running.kill('SIGKILL');
    await running.ended;
    await scene.run(['Hello.', '--disallowed-tools', 'Bash']);
    expect(await survivors(pids(scene))).toEqual([]);
    await scene.close();
  });

  describe.each([
    ['a new session', 'setsid sleep 1000 & echo $! >> pids; wait'],
    ['nohup', 'nohup sleep 1001 >/dev/null 2>&1 & echo $! >> pids; wait'],
    ['a second fork', '(setsid sleep 1002 & echo $! >> pids) & wait; sleep 1003'],
  ])('for background shells with %s', (_, body) => {
    const shells = { 'serve.sh': `#!/bin/bash\necho $$ >> pids\n${body}\n` };
    const background = (turns: number) => ({
      rules: [
        {
          match: { turn: 0 },
          reply: {
            tool_use: Array.from({ length: 4 }, () => ({
              name: 'Bash',
              input: { command: './serve.sh', run_in_background: true },
            })),
          },
        },
        ...(turns === 1 ? [] : [{ match: { turn: 1 }, reply: WAITS }]),
        { reply: 'Done.' },
      ],
    });

    test('none is left after kill -9', async () => {
      const scene = await openPrintScene(background(2), shells);
      const running = scene.start(['Go.', '--allowed-tools', 'Bash(./serve.sh)']);
      await untilPids(scene, 8);
      expect(living(pids(scene))).toHaveLength(8);
      running.kill('SIGKILL');
      expect(await survivors(pids(scene))).toEqual([]);
      await running.ended;
      await scene.close();
    });

    test('none outlives a run that ends, and a notice lists them', async () => {
      const scene = await openPrintScene(background(1), shells);
      const { code, stdout, stderr } = await scene.run([
        'Go.',
        '--allowed-tools',
        'Bash(./serve.sh)',
      ]);
      expect([code, stdout]).toEqual([0, 'Done.\n']);
      expect(stderr).toMatch(/stopped with the session.*bash_1 .*bash_4/);
      expect(await survivors(pids(scene))).toEqual([]);
      await scene.close();
    });
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'after %s no background shell is left',
    async (signal) => {
      const scene = await openPrintScene(waitingInBackground, files);
      const running = scene.start(['Go.', '--allowed-tools', 'Bash(./spawn.sh)']);
      await untilPids(scene, 4);
      running.kill(signal);
      expect(await survivors(pids(scene))).toEqual([]);
      await running.ended;
      await scene.close();
    },
  );

  test('background shells of a dead owner are killed at the next start', async () => {
    const scene = await openPrintScene(waitingInBackground, files);
    const running = scene.start(['Go.', '--allowed-tools', 'Bash(./spawn.sh)']);
    await untilPids(scene, 4);
    running.kill('SIGSTOP');
    for (const pid of watchdogsOf(running.pid)) process.kill(pid, 'SIGKILL');
    running.kill('SIGKILL');
    await running.ended;
    expect(living(pids(scene))).toHaveLength(4);
    await scene.run(['Hello.', '--disallowed-tools', 'Bash']);
    expect(await survivors(pids(scene))).toEqual([]);
    await scene.close();
  });

  test('catches a child that stays alive', async () => {
    const planted = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    expect(living([planted.pid ?? 0])).toEqual([planted.pid]);
    planted.kill('SIGKILL');
  });
});
