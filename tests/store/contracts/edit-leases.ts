/** Contract of edit leases, for every store. */
import { describe, expect, test } from 'vitest';
import type { EditLeaseStore } from '../../../src/protocol/session/edit-lease-store.js';

export const describeFileLeases = (
  name: string,
  open: () => EditLeaseStore | Promise<EditLeaseStore>,
): void => {
  describe(`leases of files ${name}`, () => {
    const ann = { agent: 'ann', since: 1 };
    const bob = { agent: 'bob', since: 2 };

    test('are nobody’s until they are taken, and show who has them since when', async () => {
      const leases = await open();
      expect(await leases.holder('/a')).toBeUndefined();
      expect(await leases.take('/a', ann, [])).toEqual(ann);
      expect(await leases.holder('/a')).toEqual(ann);
      expect(await leases.holder('/b')).toBeUndefined();
    });

    test('stay with whoever came first', async () => {
      const leases = await open();
      await leases.take('/a', ann, []);
      expect(await leases.take('/a', bob, ['carl'])).toEqual(ann);
      expect(await leases.take('/a', { ...ann, since: 3 }, [])).toEqual(ann);
      expect(await leases.take('/b', bob, [])).toEqual(bob);
    });

    test('go to one of those who want them at the same moment', async () => {
      const leases = await open();
      const wanted = Array.from({ length: 20 }, (_, at) => ({ agent: `a${at}`, since: at }));
      const told = await Promise.all(wanted.map((one) => leases.take('/a', one, [])));
      expect(new Set(told.map(({ agent }) => agent)).size).toBe(1);
      expect(await leases.holder('/a')).toEqual(told[0]);
    });

    test('are taken from those who wait for the one who wants them', async () => {
      const leases = await open();
      await leases.take('/a', ann, []);
      expect(await leases.take('/a', bob, ['ann'])).toEqual(bob);
      await leases.releaseAll('ann');
      expect(await leases.holder('/a')).toEqual(bob);
    });

    test('are given back one by one or all together, and only by whoever has them', async () => {
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
