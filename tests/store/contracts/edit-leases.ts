/** Contract of edit leases, for every store. */
import { describe, expect, test } from 'vitest';
import type { EditLeaseStore } from '../../../src/protocol/session/edit-lease-store.js';

export const describeEditLeases = (
  name: string,
  open: () => EditLeaseStore | Promise<EditLeaseStore>,
): void => {
  describe(`edit leases ${name}`, () => {
    const ann = { agent: 'ann', since: 1 };
    const bob = { agent: 'bob', since: 2 };

    test('are free until an agent takes them, and show their holder with its start time', async () => {
      const leases = await open();
      expect(await leases.holder('/a')).toBeUndefined();
      expect(await leases.take('/a', ann, [])).toEqual(ann);
      expect(await leases.holder('/a')).toEqual(ann);
      expect(await leases.holder('/b')).toBeUndefined();
    });

    test('stay with the first agent that takes them', async () => {
      const leases = await open();
      await leases.take('/a', ann, []);
      expect(await leases.take('/a', bob, ['carl'])).toEqual(ann);
      expect(await leases.take('/a', { ...ann, since: 3 }, [])).toEqual(ann);
      expect(await leases.take('/b', bob, [])).toEqual(bob);
    });

    test('go to a single agent if several agents take them at the same time', async () => {
      const leases = await open();
      const agents = Array.from({ length: 20 }, (_, at) => ({ agent: `a${at}`, since: at }));
      const holders = await Promise.all(agents.map((agent) => leases.take('/a', agent, [])));
      expect(new Set(holders.map(({ agent }) => agent)).size).toBe(1);
      expect(await leases.holder('/a')).toEqual(holders[0]);
    });

    test('are taken from an agent that waits for the new holder', async () => {
      const leases = await open();
      await leases.take('/a', ann, []);
      expect(await leases.take('/a', bob, ['ann'])).toEqual(bob);
      await leases.releaseAll('ann');
      expect(await leases.holder('/a')).toEqual(bob);
    });

    test('are released singly or all at once, and only by their holder', async () => {
      const leases = await open();
      for (const path of ['/a', '/b', '/c']) await leases.take(path, ann, []);
      await leases.take('/d', bob, []);
      await leases.release('/a', 'bob');
      expect(await leases.holder('/a')).toEqual(ann);
      await leases.release('/a', 'ann');
      await leases.release('/nowhere', 'ann');
      expect(await leases.take('/a', bob, [])).toEqual(bob);
      await leases.releaseAll('ann');
      await leases.releaseAll('nobody');
      const paths = ['/a', '/b', '/c', '/d'];
      expect(await Promise.all(paths.map((path) => leases.holder(path)))).toEqual([
        bob,
        undefined,
        undefined,
        bob,
      ]);
    });
  });
};
