/** Contract of job queues, for every store. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type {
  ClaimedJob,
  ConsumeOptions,
  JobHandler,
  JobQueue,
  QueuedJob,
} from '../../../src/protocol/session/job-queue.js';

export interface QueueBackend {
  /** Each call opens another process with the same jobs. The swarms are `s_1` and `s_2`. */
  queue(): JobQueue | Promise<JobQueue>;
  /** Options of the consumers of the jobs of `s_1`. */
  readonly options: Pick<ConsumeOptions, 'swarm'>;
  /** Kills the worker of that queue without a shutdown. */
  kill(worker: string, queue: JobQueue): void | Promise<void>;
}

export const job = (id: string, addedAt = 1_000, swarm = 's_1'): QueuedJob => ({
  id,
  swarm,
  addedAt,
});

export const describeJobQueue = (
  name: string,
  open: () => QueueBackend | Promise<QueueBackend>,
): void => {
  const setUp = async (...jobs: readonly QueuedJob[]) => {
    const backend = await open();
    const queue = await backend.queue();
    for (const each of jobs) await queue.add(each);
    const listed = async (swarm = 's_1') =>
      (await queue.list(swarm)).map(({ id, worker }) => [id, worker]);
    const consume = async (
      work: JobHandler,
      options: Partial<ConsumeOptions> = {},
      worker = 'w_1',
      from = queue,
    ) => {
      const all = { concurrency: 1, ...backend.options, ...options };
      const consumer = await from.consume(worker, all, work);
      onTestFinished(() => consumer.close());
      return consumer;
    };
    return { backend, queue, listed, consume };
  };

  /** Ends each job at once, and records the jobs. */
  const recorder = () => {
    const taken: ClaimedJob[] = [];
    const work: JobHandler = async (each) => {
      taken.push(each);
      return 'done';
    };
    return { taken, work, ids: () => taken.map(({ id }) => id) };
  };

  /** A handler that holds its jobs until `finish`, or until their signals abort. */
  const held = () => {
    const taken: ClaimedJob[] = [];
    let finish: () => void = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const work: JobHandler = async (each) => {
      taken.push(each);
      const aborted = new Promise((resolve) => each.signal.addEventListener('abort', resolve));
      await Promise.race([finished, aborted]);
      return each.signal.aborted ? { laterMs: 0 } : 'done';
    };
    return { taken, work, finish };
  };

  describe(`jobs ${name}`, () => {
    test('are started in the order of their age', async () => {
      const { consume, listed } = await setUp(job('a_1', 1), job('a_2', 2), job('a_3', 3));
      const { ids, taken, work } = recorder();
      await consume(work);
      await expect.poll(ids).toEqual(['a_1', 'a_2', 'a_3']);
      await expect.poll(() => listed()).toEqual([]);
      expect(taken[0]).toMatchObject({ ...job('a_1', 1), attempts: 0 });
    });

    test('without a priority are started first, then jobs with the lowest priority number', async () => {
      const { consume } = await setUp(
        { ...job('a_1', 1), priority: 20 },
        { ...job('a_2', 2), priority: 3 },
        { ...job('a_3', 3), priority: 3 },
        job('a_4', 4),
        { ...job('a_5', 5), priority: 0 },
      );
      const { ids, work } = recorder();
      await consume(work);
      await expect.poll(ids).toEqual(['a_4', 'a_5', 'a_2', 'a_3', 'a_1']);
    });

    test('are not started before their time', async () => {
      const notBefore = Date.now() + 700;
      const { consume, listed } = await setUp({ ...job('a_1', 1), notBefore }, job('a_2', 2));
      const { ids, work } = recorder();
      expect(await listed()).toEqual([
        ['a_1', undefined],
        ['a_2', undefined],
      ]);
      const times: number[] = [];
      await consume((each) => {
        times.push(Date.now());
        return work(each);
      });
      await expect.poll(ids, { timeout: 5_000 }).toEqual(['a_2', 'a_1']);
      expect(times[1]).toBeGreaterThanOrEqual(notBefore);
    });

    test('are added once, also if they are added again', async () => {
      const { backend, queue, consume, listed } = await setUp(job('a_1'), job('a_1', 9));
      await (await backend.queue()).add(job('a_1', 5));
      expect(await listed()).toEqual([['a_1', undefined]]);
      const { ids, work } = recorder();
      await consume(work);
      await expect.poll(() => listed()).toEqual([]);
      await queue.add(job('a_1'));
      await queue.add(job('a_2'));
      await expect.poll(ids).toEqual(['a_1', 'a_2']);
    });

    test('of an agent that is restarted after its end are separate jobs', async () => {
      const { queue, consume, listed } = await setUp(job('a_1'));
      const { taken, work } = recorder();
      await consume(work);
      await expect.poll(() => listed()).toEqual([]);
      await queue.add({ ...job('a_1'), at: 17 });
      await queue.add({ ...job('a_1'), at: 17 });
      await expect.poll(() => taken.map(({ at }) => at)).toEqual([undefined, 17]);
      await expect.poll(() => listed()).toEqual([]);
    });

    test('of a swarm are listed with their worker, the oldest first', async () => {
      const { queue, consume, listed } = await setUp(job('a_3', 3), job('a_1', 1, 's_2'));
      await queue.add({ ...job('a_1', 1), priority: 9 });
      const { taken, work } = held();
      await consume(work, {}, 'o_1.17.4711.4026531836');
      await expect.poll(() => taken.length).toBe(1);
      expect(await listed()).toEqual([
        ['a_1', undefined],
        ['a_3', 'o_1.17.4711.4026531836'],
      ]);
      expect(await listed('s_2')).toEqual([['a_1', undefined]]);
    });

    test('that are withdrawn are not started, and not added again', async () => {
      const later = { ...job('a_3', 3), notBefore: Date.now() + 500 };
      const urgent = { ...job('a_4', 4), priority: 2 };
      const { queue, consume, listed } = await setUp(job('a_1', 1), job('a_2', 2), later, urgent);
      for (const each of [job('a_1'), later, urgent]) expect(await queue.withdraw(each)).toBe(true);
      for (const each of [job('a_1'), later, urgent])
        expect(await queue.withdraw(each)).toBe(false);
      await queue.add(job('a_1', 1));
      expect(await listed()).toEqual([['a_2', undefined]]);
      const { ids, work } = recorder();
      await consume(work);
      await queue.add(job('a_5', 5));
      await expect.poll(ids).toEqual(['a_2', 'a_5']);
    });

    test('are not withdrawn if they are running, ended or unknown', async () => {
      const { queue, consume, listed } = await setUp(job('a_1'));
      const { taken, work, finish } = held();
      await consume(work);
      await expect.poll(() => taken.length).toBe(1);
      expect(await queue.withdraw(job('a_1'))).toBe(false);
      finish();
      await expect.poll(() => listed()).toEqual([]);
      expect(await queue.withdraw(job('a_1'))).toBe(false);
      expect(await queue.withdraw(job('a_9'))).toBe(false);
      expect(await queue.withdraw({ ...job('a_1'), at: 3 })).toBe(false);
    });

    test('run in parallel up to the concurrency limit', async () => {
      const many = Array.from({ length: 12 }, (_, age) => job(`a_${age}`, age));
      const { consume } = await setUp(...many);
      let [running, maxRunning, done] = [0, 0, 0];
      let full: () => void = () => {};
      const isFull = new Promise<void>((resolve) => {
        full = resolve;
      });
      const consumer = await consume(
        async () => {
          running += 1;
          maxRunning = Math.max(maxRunning, running);
          if (running === 3) full();
          await isFull;
          await new Promise((resolve) => setTimeout(resolve, 5));
          running -= 1;
          done += 1;
          return 'done';
        },
        { concurrency: 3 },
      );
      await expect.poll(() => done, { timeout: 5_000 }).toBe(12);
      expect(maxRunning).toBe(3);
      await expect.poll(() => consumer.busy).toBe(0);
    });

    test('that are delayed or fail are started again, with the number of attempts', async () => {
      const { consume, listed } = await setUp(job('a_1'));
      const attempts: number[] = [];
      await consume(async (each) => {
        attempts.push(each.attempts);
        await each.progress({ turns: attempts.length, state: 'streaming' });
        if (attempts.length === 1) return { laterMs: 0 };
        if (attempts.length === 2) return { laterMs: 50 };
        if (attempts.length === 3) throw new Error('something broke');
        return 'done';
      });
      await expect.poll(() => attempts, { timeout: 8_000 }).toEqual([0, 1, 2, 3]);
      await expect.poll(() => listed()).toEqual([]);
    }, 10_000);

    test('that are delayed for long can be withdrawn, and do not block other jobs', async () => {
      const { queue, consume, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      const ids: string[] = [];
      await consume(async ({ id }) => {
        ids.push(id);
        return id === 'a_1' ? { laterMs: 3_600_000 } : 'done';
      });
      await expect.poll(() => ids).toEqual(['a_1', 'a_2']);
      await expect.poll(() => listed()).toEqual([['a_1', undefined]]);
      expect(await queue.withdraw(job('a_1'))).toBe(true);
      expect(await listed()).toEqual([]);
    });

    test('that can never run are not started again, and not added again', async () => {
      const { queue, consume, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      const ids: string[] = [];
      await consume(async ({ id }) => {
        ids.push(id);
        return id === 'a_1' ? { never: 'There is no such swarm.' } : 'done';
      });
      await expect.poll(() => listed()).toEqual([]);
      await queue.add(job('a_1', 1));
      await queue.add(job('a_3', 3));
      await expect.poll(() => ids).toEqual(['a_1', 'a_2', 'a_3']);
    });

    test('are started no faster than the rate limit', async () => {
      const { consume } = await setUp(job('a_1', 1), job('a_2', 2), job('a_3', 3));
      const { ids, work } = recorder();
      await consume(work, { concurrency: 5, rate: { max: 2, perMs: 600_000 } });
      await expect.poll(ids).toEqual(['a_1', 'a_2']);
      // Enough time for a third job to start.
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(ids()).toEqual(['a_1', 'a_2']);
    });

    test('that were refused or delayed unstarted do not count for the rate limit', async () => {
      const { consume } = await setUp(...[1, 2, 3, 4, 5, 6].map((age) => job(`a_${age}`, age)));
      const { ids, work } = recorder();
      const refuseSome: JobHandler = async (each) => {
        if (each.id === 'a_1') return { never: 'There is no such swarm.' };
        return each.id < 'a_4' ? { laterMs: 3_600_000, notStarted: true } : work(each);
      };
      await consume(refuseSome, { concurrency: 5, rate: { max: 2, perMs: 600_000 } });
      await expect.poll(ids, { timeout: 8_000 }).toEqual(['a_4', 'a_5']);
      // Enough time for a third job to start.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(ids()).toEqual(['a_4', 'a_5']);
    }, 20_000);

    test('are never run by two workers', async () => {
      const many = Array.from({ length: 40 }, (_, age) => job(`a_${age}`, age));
      const { backend, consume, listed } = await setUp(...many);
      const { ids, work } = recorder();
      for (const worker of ['w_1', 'w_2', 'w_3']) {
        await consume(work, { concurrency: 4 }, worker, await backend.queue());
      }
      await expect.poll(() => listed(), { timeout: 5_000 }).toEqual([]);
      expect(ids().sort()).toEqual(many.map(({ id }) => id).sort());
    });

    test('of a dead worker are run by another worker with a higher number of attempts', async () => {
      const { backend, queue, consume, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      const doomed = await backend.queue();
      const first = held();
      await consume(first.work, { concurrency: 2 }, 'w_1', doomed);
      await expect.poll(() => first.taken.length).toBe(2);
      await backend.kill('w_1', doomed);
      await expect
        .poll(() => listed(), { timeout: 8_000 })
        .toEqual([
          ['a_1', undefined],
          ['a_2', undefined],
        ]);
      const { taken, work } = recorder();
      await consume(work, {}, 'w_2', queue);
      await expect.poll(() => listed(), { timeout: 8_000 }).toEqual([]);
      expect(taken.map(({ id, attempts }) => `${id} ${attempts}`).sort()).toEqual([
        'a_1 1',
        'a_2 1',
      ]);
    }, 20_000);

    test('of a closing worker are returned to the queue, and it takes no more jobs', async () => {
      const { backend, consume, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      const first = held();
      const consumer = await consume(first.work, {}, 'w_1');
      await expect.poll(() => first.taken.length).toBe(1);
      expect(consumer.busy).toBe(1);
      await consumer.close();
      expect(consumer.busy).toBe(0);
      expect(await listed()).toEqual([
        ['a_1', undefined],
        ['a_2', undefined],
      ]);
      const { taken, work } = recorder();
      await consume(work, {}, 'w_2', await backend.queue());
      await expect.poll(() => taken.map(({ id }) => id)).toEqual(['a_1', 'a_2']);
      expect(first.taken).toHaveLength(1);
    });

    test.each(['', '..', '../up', 'a/b', 'a b', 'a\0b', 'a:b', 'x'.repeat(129)])(
      'cannot have the id or the swarm %j',
      async (id) => {
        const { queue } = await setUp();
        await expect(queue.add(job(id))).rejects.toMatchObject({ code: 'usage' });
        await expect(queue.add(job('a_1', 1, id))).rejects.toMatchObject({ code: 'usage' });
        await expect(queue.list(id)).rejects.toMatchObject({ code: 'usage' });
      },
    );

    test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 1e21])(
      'cannot be added with the time %d',
      async (at) => {
        const { queue } = await setUp();
        await expect(queue.add(job('a_1', at))).rejects.toMatchObject({ code: 'usage' });
      },
    );

    test.each(['', 'x'.repeat(81)])('cannot be consumed by the worker %j', async (worker) => {
      const { consume } = await setUp();
      const noWork: JobHandler = async () => 'done';
      await expect(consume(noWork, {}, worker)).rejects.toMatchObject({ code: 'usage' });
    });
  });
};
