/** Contract of queues that give jobs to the process of the swarm. */
import { describe, expect, test } from 'vitest';
import type { JobQueue, LocalJobs, QueuedJob } from '../../../src/protocol/session/job-queue.js';
import { job } from './job-queue.js';

export interface LocalJobsBackend {
  /** Each call opens another process with the same jobs. The swarms are `s_1` and `s_2`. */
  queue(): JobQueue & LocalJobs;
  kill(worker: string): void | Promise<void>;
}

export const describeLocalJobs = (
  name: string,
  open: () => LocalJobsBackend | Promise<LocalJobsBackend>,
): void => {
  const setUp = async (...jobs: readonly QueuedJob[]) => {
    const backend = await open();
    const queue = backend.queue();
    for (const each of jobs) await queue.add(each);
    const listed = async (swarm = 's_1') =>
      (await backend.queue().list(swarm)).map(({ id, worker }) => [id, worker]);
    return { backend, queue, listed };
  };

  describe(`local jobs ${name}`, () => {
    test('are claimed as they were added, the oldest first', async () => {
      const { queue } = await setUp(job('a_3', 3), job('a_1', 1), job('a_2', 2));
      expect(await queue.claim('s_1', 'w_1')).toEqual(job('a_1', 1));
      expect(await queue.claim('s_1', 'w_2')).toEqual(job('a_2', 2));
      await queue.add(job('a_0', 0));
      expect(await queue.claim('s_1', 'w_1')).toEqual(job('a_0', 0));
      expect(await queue.claim('s_1', 'w_1')).toEqual(job('a_3', 3));
      expect(await queue.claim('s_1', 'w_1')).toBeUndefined();
    });

    test('are added once, also if they are added again while claimed or after completion', async () => {
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

    test('of another swarm are not claimed', async () => {
      const { queue, listed } = await setUp(job('a_1', 1, 's_2'));
      expect(await queue.claim('s_1', 'w_1')).toBeUndefined();
      expect(await listed('s_2')).toEqual([['a_1', undefined]]);
      expect(await queue.claim('s_2', 'w_1')).toEqual(job('a_1', 1, 's_2'));
    });

    test('are listed with their worker', async () => {
      const { queue, listed } = await setUp(job('a_1', 1), job('a_2', 2), job('a_3', 3));
      await queue.claim('s_1', 'w_1');
      await queue.claim('s_1', 'o_1.17.4711.4026531836');
      expect(await listed()).toEqual([
        ['a_1', 'w_1'],
        ['a_2', 'o_1.17.4711.4026531836'],
        ['a_3', undefined],
      ]);
    });

    test('of a live worker are not claimed again, also not by that worker', async () => {
      const { backend, queue } = await setUp(job('a_1'));
      await queue.claim('s_1', 'w_1');
      expect(await queue.claim('s_1', 'w_1')).toBeUndefined();
      expect(await backend.queue().claim('s_1', 'w_2')).toBeUndefined();
    });

    test('of a dead worker have no worker, and are claimed again in their order', async () => {
      const { backend, queue, listed } = await setUp(job('a_1', 1), job('a_2', 2), job('a_3', 3));
      await queue.claim('s_1', 'w_1');
      await queue.claim('s_1', 'w_1');
      await backend.kill('w_1');
      expect(await listed()).toEqual([
        ['a_1', undefined],
        ['a_2', undefined],
        ['a_3', undefined],
      ]);
      const next = backend.queue();
      const claimed = [];
      for (let count = 0; count < 4; count += 1) claimed.push((await next.claim('s_1', 'w_2'))?.id);
      expect(claimed).toEqual(['a_1', 'a_2', 'a_3', undefined]);
    });

    test('that are complete are gone, also after the death of their worker', async () => {
      const { backend, queue, listed } = await setUp(job('a_1'));
      await queue.claim('s_1', 'w_1');
      await queue.complete('a_1', 'w_1');
      await backend.kill('w_1');
      expect(await backend.queue().claim('s_1', 'w_2')).toBeUndefined();
      expect(await listed()).toEqual([]);
    });

    test('that are released can be claimed again, in their order', async () => {
      const { backend, queue } = await setUp(job('a_1', 1), job('a_2', 2));
      await queue.claim('s_1', 'w_1');
      await queue.release('a_1', 'w_1');
      expect((await queue.claim('s_1', 'w_1'))?.id).toBe('a_1');
      await queue.release('a_1', 'w_1');
      expect((await backend.queue().claim('s_1', 'w_2'))?.id).toBe('a_1');
    });

    test('are not completed or released by another worker', async () => {
      const { backend, queue, listed } = await setUp(job('a_1'));
      await queue.claim('s_1', 'w_1');
      for (const otherWorker of [queue, backend.queue()]) {
        await otherWorker.complete('a_1', 'w_2');
        await otherWorker.release('a_1', 'w_2');
        await otherWorker.complete('a_9', 'w_2');
      }
      expect(await listed()).toEqual([['a_1', 'w_1']]);
    });

    test('are not completed or released by a worker that has lost them', async () => {
      const { backend, queue, listed } = await setUp(job('a_1'));
      await queue.claim('s_1', 'w_1');
      await backend.kill('w_1');
      await backend.queue().claim('s_1', 'w_2');
      await queue.complete('a_1', 'w_1');
      await queue.release('a_1', 'w_1');
      expect(await listed()).toEqual([['a_1', 'w_2']]);
    });

    test('stay as they are when a queue closes', async () => {
      const { backend, queue, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      await queue.claim('s_1', 'w_1');
      await queue.close();
      expect(await listed()).toEqual([
        ['a_1', 'w_1'],
        ['a_2', undefined],
      ]);
      expect((await backend.queue().claim('s_1', 'w_2'))?.id).toBe('a_2');
    });

    test('of the same age are claimed in the order of the list by all workers', async () => {
      const { backend, listed } = await setUp(job('a_2'), job('a_1'), job('a_3'));
      const order = (await listed()).map(([id]) => id);
      const claimed = [];
      for (let count = 0; count < 3; count += 1) {
        claimed.push((await backend.queue().claim('s_1', `w_${count}`))?.id);
      }
      expect(claimed).toEqual(order);
    });

    test('go to a single worker each if several workers claim at once', async () => {
      const { backend } = await setUp(
        ...Array.from({ length: 10 }, (_, age) => job(`a_${age}`, age)),
      );
      const claims = Array.from({ length: 20 }, (_, number) =>
        backend.queue().claim('s_1', `w_${number}`),
      );
      const claimed = (await Promise.all(claims)).flatMap((each) => each?.id ?? []);
      expect(claimed).toHaveLength(10);
      expect(new Set(claimed).size).toBe(10);
    });

    test.each(['', '..', '../up', 'a/b'])(
      'cannot be claimed or listed for the swarm %j',
      async (swarm) => {
        const { queue } = await setUp();
        await expect(queue.claim(swarm, 'w_1')).rejects.toMatchObject({ code: 'usage' });
        await expect(queue.list(swarm)).rejects.toMatchObject({ code: 'usage' });
      },
    );

    test.each(['', 'x'.repeat(81)])('cannot be claimed by the worker %j', async (worker) => {
      const { queue } = await setUp(job('a_1'));
      await expect(queue.claim('s_1', worker)).rejects.toMatchObject({ code: 'usage' });
    });
  });
};
