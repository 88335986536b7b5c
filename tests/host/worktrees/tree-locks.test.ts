import { describe, expect, test } from 'vitest';
import { TreeLocks } from '../../../src/host/worktrees/git-worktrees.js';
import { gate } from '../../fakes/agents/scripted-model.js';
import { settled } from '../../fakes/virtual-clock.js';

/** Agents that want trees, and what they were told and did. */
const rig = () => {
  const locks = new TreeLocks();
  const said: string[] = [];
  const take = (agent: string, tree = '/repo') => {
    const door = gate();
    const onWait = (holder: string, place: string) =>
      void said.push(`${agent} waits for ${holder} at ${place}`);
    const done = locks.run(tree, { agent, onWait }, async () => {
      said.push(`${agent} begins`);
      await door.opened;
      return agent;
    });
    return { done, open: door.open };
  };
  return { locks, said, take };
};

describe('agents that want one tree', () => {
  test('have it one after the other, and who waits is told who has it', async () => {
    const { said, take } = rig();
    const [first, second] = [take('a_1'), take('a_2')];
    expect(said).toEqual(['a_2 waits for a_1 at /repo']);
    first.open();
    expect(await first.done).toBe('a_1');
    await settled();
    const third = take('a_3');
    expect(said.slice(1)).toEqual(['a_1 begins', 'a_2 begins', 'a_3 waits for a_2 at /repo']);
    second.open();
    third.open();
    expect(await third.done).toBe('a_3');
  });

  test('wait for nobody in a tree of their own, nor when it is free again', async () => {
    const { said, take } = rig();
    const both = [take('a_1', '/one'), take('a_2', '/two')];
    for (const { open } of both) open();
    await Promise.all(both.map(({ done }) => done));
    await settled();
    const again = take('a_3', '/one');
    again.open();
    await again.done;
    expect(said).toEqual(['a_1 begins', 'a_2 begins', 'a_3 begins']);
  });

  test('have it also after one that failed', async () => {
    const { locks, take } = rig();
    const failed = locks.run('/repo', { agent: 'a_0' }, () => Promise.reject(new Error('no')));
    const next = take('a_1');
    next.open();
    await expect(failed).rejects.toThrow('no');
    expect(await next.done).toBe('a_1');
  });
});
