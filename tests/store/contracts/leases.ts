/** Contract of leases, for every store. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { Leases } from '../../../src/protocol/session/leases.js';

export interface LeaseBackend {
  /** Leases of a live process with this pid. */
  as(pid: number): Leases;
  kill(pid: number): void | Promise<void>;
}

export const describeLeases = (
  name: string,
  open: () => LeaseBackend | Promise<LeaseBackend>,
): void => {
  describe(`leases ${name}`, () => {
    test('are free until a process takes them, and show their holder', async () => {
      const backend = await open();
      expect(await backend.as(1).holder('s_1')).toBeUndefined();
      expect((await backend.as(1).take('s_1')).epoch).toBe(1);
      expect(await backend.as(2).holder('s_1')).toEqual({ pid: 1, host: hostname() });
    });

    test('are refused while their owner is alive, also to their owner', async () => {
      const backend = await open();
      await backend.as(1).take('s_1');
      for (const pid of [1, 2]) {
        const refused = backend.as(pid).take('s_1');
        await expect(refused).rejects.toMatchObject({ code: 'usage' });
        await expect(refused).rejects.toThrow('open in another process (pid 1)');
      }
    });

    test('go to a single process if several processes take them at once', async () => {
      const backend = await open();
      const takes = Array.from({ length: 20 }, (_, pid) => backend.as(pid + 1).take('s_1'));
      const outcomes = await Promise.allSettled(takes);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    test('are free after a release, with a higher epoch each time', async () => {
      const backend = await open();
      const epochs: number[] = [];
      for (const pid of [1, 2, 1, 3]) {
        const lease = await backend.as(pid).take('s_1');
        epochs.push(lease.epoch);
        await lease.release();
        expect(await backend.as(pid).holder('s_1')).toBeUndefined();
      }
      expect(epochs).toEqual([1, 2, 3, 4]);
    });

    test('are taken over from a dead owner, with a higher epoch', async () => {
      const backend = await open();
      await backend.as(1).take('s_1');
      await backend.kill(1);
      expect(await backend.as(2).holder('s_1')).toBeUndefined();
      expect((await backend.as(2).take('s_1')).epoch).toBe(2);
      expect(await backend.as(3).holder('s_1')).toMatchObject({ pid: 2 });
    });

    test('stay with the new owner when the old owner releases its lost lease', async () => {
      const backend = await open();
      const lost = await backend.as(1).take('s_1');
      await backend.kill(1);
      await backend.as(2).take('s_1');
      await lost.release();
      expect(await backend.as(3).holder('s_1')).toMatchObject({ pid: 2 });
      await expect(backend.as(3).take('s_1')).rejects.toThrow('(pid 2)');
    });

    test('stay with the new owner when the old owner releases twice', async () => {
      const backend = await open();
      const lease = await backend.as(1).take('s_1');
      await lease.release();
      await backend.as(2).take('s_1');
      await lease.release();
      expect(await backend.as(3).holder('s_1')).toMatchObject({ pid: 2 });
    });

    test('of different names are independent', async () => {
      const backend = await open();
      await backend.as(1).take('s_1');
      expect((await backend.as(2).take('s_2')).epoch).toBe(1);
    });

    test.each(['', '..', '../up', 'a/b', 'a\0b'])('reject the name %j', async (hostile) => {
      const leases = (await open()).as(1);
      await expect(leases.take(hostile)).rejects.toMatchObject({ code: 'usage' });
      await expect(leases.holder(hostile)).rejects.toMatchObject({ code: 'usage' });
    });
  });
};
