/** Contract of queues that hand jobs to the process of the swarm. */
import { describe, expect, test } from 'vitest';
import type { JobQueue, LocalJobs, QueuedJob } from '../../../src/protocol/session/job-queue.js';
import { job } from './job-queue.js';

export interface OwnJobsBackend {
  /** Each call is another process that can reach the same jobs; the swarms are `s_1` and `s_2`. */
  queue(): JobQueue & LocalJobs;
  kill(worker: string): void | Promise<void>;
}

export const describeOwnJobs = (
  name: string,
  open: () => OwnJobsBackend | Promise<OwnJobsBackend>,
): void => {
  const setUp = async (...jobs: readonly QueuedJob[]) => {
    const backend = await open();
    const queue = backend.queue();
    for (const each of jobs) await queue.add(each);
    const listed = async (swarm = 's_1') =>
      (await backend.queue().list(swarm)).map(({ id, worker }) => [id, worker]);
    return { backend, queue, listed };
  };

  describe(`jobs of its own ${name}`, () => {
    test('are given as they were added, the oldest first', async () => {
      const { queue } = await setUp(job('a_3', 3), job('a_1', 1), job('a_2', 2));
      expect(await queue.claim('s_1', 'w_1')).toEqual(job('a_1', 1));
      expect(await queue.claim('s_1', 'w_2')).toEqual(job('a_2', 2));
      await queue.add(job('a_0', 0));
      expect(await queue.claim('s_1', 'w_1')).toEqual(job('a_0', 0));
      expect(await queue.claim('s_1', 'w_1')).toEqual(job('a_3', 3));
      expect(await queue.claim('s_1', 'w_1')).toBeUndefined();
    });

    test('are added once, however often they are asked for', async () => {
      const { backend, queue, listed } = await setUp(job('a_1'), job('a_1', 9));
      await backend.queue().add(job('a_1', 5));
      expect(await listed()).toEqual([['a_1', undefined]]);
      await queue.claim('s_1', 'w_1');
      await queue.add(job('a_1'));
      expect(await queue.claim('s_1', 'w_1')).toBeUndefined();
      await queue.complete('a_1', 'w_1');
      await queue.add(job('a_1'));
      expect(await queue.claim('s_1', 'w_1')).toBeUndefined();
      expect(await listed()).toEqual([]);
    });

    test('of another swarm are not given', async () => {
      const { queue, listed } = await setUp(job('a_1', 1, 's_2'));
      expect(await queue.claim('s_1', 'w_1')).toBeUndefined();
      expect(await listed('s_2')).toEqual([['a_1', undefined]]);
      expect(await queue.claim('s_2', 'w_1')).toEqual(job('a_1', 1, 's_2'));
    });

    test('show who works on them', async () => {
      const { queue, listed } = await setUp(job('a_1', 1), job('a_2', 2), job('a_3', 3));
      await queue.claim('s_1', 'w_1');
      await queue.claim('s_1', 'o_1.17.4711.4026531836');
      expect(await listed()).toEqual([
        ['a_1', 'w_1'],
        ['a_2', 'o_1.17.4711.4026531836'],
        ['a_3', undefined],
      ]);
    });

    test('of a live worker are given to nobody, also not to that worker', async () => {
      const { backend, queue } = await setUp(job('a_1'));
      await queue.claim('s_1', 'w_1');
      expect(await queue.claim('s_1', 'w_1')).toBeUndefined();
      expect(await backend.queue().claim('s_1', 'w_2')).toBeUndefined();
    });

    test('of a dead worker are nobody’s, and are given again in their order', async () => {
      const { backend, queue, listed } = await setUp(job('a_1', 1), job('a_2', 2), job('a_3', 3));
      await queue.claim('s_1', 'w_1');
      await queue.claim('s_1', 'w_1');
      await backend.kill('w_1');
      expect(await listed()).toEqual([
        ['a_1', undefined],
        ['a_2', undefined],
        ['a_3', undefined],
      ]);
      const other = backend.queue();
      const given = [];
      for (let count = 0; count < 4; count += 1) given.push((await other.claim('s_1', 'w_2'))?.id);
      expect(given).toEqual(['a_1', 'a_2', 'a_3', undefined]);
    });

    test('that are done are gone for good, also when their worker dies', async () => {
      const { backend, queue, listed } = await setUp(job('a_1'));
      await queue.claim('s_1', 'w_1');
      await queue.complete('a_1', 'w_1');
      await backend.kill('w_1');
      expect(await backend.queue().claim('s_1', 'w_2')).toBeUndefined();
      expect(await listed()).toEqual([]);
    });

    test('that are given back can be taken again, in their order', async () => {
      const { backend, queue } = await setUp(job('a_1', 1), job('a_2', 2));
      await queue.claim('s_1', 'w_1');
      await queue.release('a_1', 'w_1');
      expect((await queue.claim('s_1', 'w_1'))?.id).toBe('a_1');
      await queue.release('a_1', 'w_1');
      expect((await backend.queue().claim('s_1', 'w_2'))?.id).toBe('a_1');
    });

    test('are not ended or given back by one who does not have them', async () => {
      const { backend, queue, listed } = await setUp(job('a_1'));
      await queue.claim('s_1', 'w_1');
      for (const stranger of [queue, backend.queue()]) {
        await stranger.complete('a_1', 'w_2');
        await stranger.release('a_1', 'w_2');
        await stranger.complete('a_9', 'w_2');
      }
      expect(await listed()).toEqual([['a_1', 'w_1']]);
    });

    test('are not ended by one who has lost them', async () => {
      const { backend, queue, listed } = await setUp(job('a_1'));
      await queue.claim('s_1', 'w_1');
      await backend.kill('w_1');
      await backend.queue().claim('s_1', 'w_2');
      await queue.complete('a_1', 'w_1');
      await queue.release('a_1', 'w_1');
      expect(await listed()).toEqual([['a_1', 'w_2']]);
    });

    test('are left alone by a queue that closes', async () => {
      const { backend, queue, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      await queue.claim('s_1', 'w_1');
      await queue.close();
      expect(await listed()).toEqual([
        ['a_1', 'w_1'],
        ['a_2', undefined],
      ]);
      expect((await backend.queue().claim('s_1', 'w_2'))?.id).toBe('a_2');
    });

    test('of one age are given in one order, whoever asks', async () => {
      const { backend, listed } = await setUp(job('a_2'), job('a_1'), job('a_3'));
      const order = (await listed()).map(([id]) => id);
      const given = [];
      for (let count = 0; count < 3; count += 1) {
        given.push((await backend.queue().claim('s_1', `w_${count}`))?.id);
      }
      expect(given).toEqual(order);
    });

    test('go to one of those who want them at once', async () => {
      const { backend } = await setUp(
        ...Array.from({ length: 10 }, (_, age) => job(`a_${age}`, age)),
      );
      const wanted = Array.from({ length: 20 }, (_, number) =>
        backend.queue().claim('s_1', `w_${number}`),
      );
      const given = (await Promise.all(wanted)).flatMap((each) => each?.id ?? []);
      expect(given).toHaveLength(10);
      expect(new Set(given).size).toBe(10);
    });

    test.each(['', '..', '../up', 'a/b'])('cannot be had of a swarm %j', async (swarm) => {
      const { queue } = await setUp();
      await expect(queue.claim(swarm, 'w_1')).rejects.toMatchObject({ code: 'usage' });
      await expect(queue.list(swarm)).rejects.toMatchObject({ code: 'usage' });
    });

    test.each(['', 'x'.repeat(81)])('cannot be taken by %j', async (worker) => {
      const { queue } = await setUp(job('a_1'));
      await expect(queue.claim('s_1', worker)).rejects.toMatchObject({ code: 'usage' });
    });
  });
};
