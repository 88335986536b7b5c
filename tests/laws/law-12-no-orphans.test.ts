/** Law 12: whatever happens to a process of ours, its children do not outlive it. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makePlace, type Place } from './workspace.js';

/** A shell that waits for a sleeper in its group, after it let another one leave the group. */
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

const pids = ({ workspace }: Place): readonly number[] => {
  const file = join(workspace, 'pids');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
};

const living = (some: readonly number[]): readonly number[] =>
  some.filter((pid) => {
    const stat = `/proc/${pid}/stat`;
    return existsSync(stat) && !/\) Z /.test(readFileSync(stat, 'utf8'));
  });

/** Gives up after five seconds, which is the time that the law allows. */
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
    return Number(parent) === owner && command.includes('watchdog.js');
  } catch {
    return false;
  }
};

const startChildren = async (place: Place) => {
  const running = place.start(['Go.', '--allowed-tools', 'Bash(./spawn.sh)']);
  while (pids(place).length < 2) await new Promise((next) => setTimeout(next, 20));
  expect(living(pids(place))).toHaveLength(2);
  return running;
};

describe('law 12, no orphans', () => {
  test.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'after %s no child is left, not even one that went its own way',
    async (signal) => {
      const place = await makePlace(script, files);
      const running = await startChildren(place);
      running.kill(signal);
      expect(await survivors(pids(place))).toEqual([]);
      await running.ended;
      await place.close();
    },
  );

  test('what a dead owner left behind is ended at the next start', async () => {
    const place = await makePlace(script, files);
    const running = await startChildren(place);
    // Without its watchdog the owner cannot keep the law when it dies; the next start can.
    running.kill('SIGSTOP');
    for (const pid of watchdogsOf(running.pid)) process.kill(pid, 'SIGKILL');
    running.kill('SIGKILL');
    await running.ended;
    await place.run(['Hello.', '--disallowed-tools', 'Bash']);
    expect(await survivors(pids(place))).toEqual([]);
    await place.close();
  });

  test('catches a child that lives on', async () => {
    const planted = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    expect(living([planted.pid ?? 0])).toEqual([planted.pid]);
    planted.kill('SIGKILL');
  });
});
