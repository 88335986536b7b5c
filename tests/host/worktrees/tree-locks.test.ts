import { describe, expect, test } from 'vitest';
import { TreeLocks } from '../../../src/host/worktrees/git-worktrees.js';
import { gate } from '../../fakes/agents/scripted-model.js';
import { settled } from '../../fakes/virtual-clock.js';

/** Agents that request tree locks, with a log of their waits and starts. */
const rig = () => {
  const locks = new TreeLocks();
  const log: string[] = [];
  const take = (agent: string, tree = '/repo') => {
    const held = gate();
    const onWait = (holder: string, place: string) =>
      void log.push(`${agent} waits for ${holder} at ${place}`);
    const done = locks.run(tree, { agent, onWait }, async () => {
      log.push(`${agent} starts`);
      await held.opened;
      return agent;
    });
    return { done, open: held.open };
  };
  return { locks, log, take };
};

describe('tree locks', () => {
  test('run the work of a tree in order, and name the holder to agents that wait', async () => {
    const { log, take } = rig();
    const [first, second] = [take('a_1'), take('a_2')];
    expect(log).toEqual(['a_2 waits for a_1 at /repo']);
    first.open();
    expect(await first.done).toBe('a_1');
    await settled();
    const third = take('a_3');
    expect(log.slice(1)).toEqual(['a_1 starts', 'a_2 starts', 'a_3 waits for a_2 at /repo']);
    second.open();
    third.open();
    expect(await third.done).toBe('a_3');
  });

  test('do not make agents wait for different trees, or for a free tree', async () => {
    const { log, take } = rig();
    const both = [take('a_1', '/one'), take('a_2', '/two')];
    for (const { open } of both) open();
    await Promise.all(both.map(({ done }) => done));
    await settled();
    const again = take('a_3', '/one');
    again.open();
    await again.done;
    expect(log).toEqual(['a_1 starts', 'a_2 starts', 'a_3 starts']);
  });

  test('continue after failed work', async () => {
    const { locks, take } = rig();
    const failed = locks.run('/repo', { agent: 'a_0' }, () => Promise.reject(new Error('no')));
    const next = take('a_1');
    next.open();
    await expect(failed).rejects.toThrow('no');
    expect(await next.done).toBe('a_1');
  });
});
