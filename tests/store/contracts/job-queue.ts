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
  /** Each call is another process that can reach the same jobs; the swarms are `s_1` and `s_2`. */
  queue(): JobQueue | Promise<JobQueue>;
  /** Options of the consumers of the jobs of `s_1`. */
  readonly terms: Pick<ConsumeOptions, 'swarm'>;
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
    const employ = async (
      work: JobHandler,
      terms: Partial<ConsumeOptions> = {},
      worker = 'w_1',
      by = queue,
    ) => {
      const all = { concurrency: 1, ...backend.terms, ...terms };
      const workplace = await by.consume(worker, all, work);
      onTestFinished(() => workplace.close());
      return workplace;
    };
    return { backend, queue, listed, employ };
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

  /** Work that goes on until it is let go, or until its signal. */
  const held = () => {
    const taken: ClaimedJob[] = [];
    let letGo: () => void = () => {};
    const over = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const work: JobHandler = async (each) => {
      taken.push(each);
      const aborted = new Promise((resolve) => each.signal.addEventListener('abort', resolve));
      await Promise.race([over, aborted]);
      return each.signal.aborted ? { laterMs: 0 } : 'done';
    };
    return { taken, work, letGo };
  };

  describe(`jobs ${name}`, () => {
    test('are worked on in the order of their age', async () => {
      const { employ, listed } = await setUp(job('a_1', 1), job('a_2', 2), job('a_3', 3));
      const { ids, taken, work } = recorder();
      await employ(work);
      await expect.poll(ids).toEqual(['a_1', 'a_2', 'a_3']);
      await expect.poll(() => listed()).toEqual([]);
      expect(taken[0]).toMatchObject({ ...job('a_1', 1), attempts: 0 });
    });

    test('with a lower priority come first, and those without one ahead of all', async () => {
      const { employ } = await setUp(
        { ...job('a_1', 1), priority: 20 },
        { ...job('a_2', 2), priority: 3 },
        { ...job('a_3', 3), priority: 3 },
        job('a_4', 4),
        { ...job('a_5', 5), priority: 0 },
      );
      const { ids, work } = recorder();
      await employ(work);
      await expect.poll(ids).toEqual(['a_4', 'a_5', 'a_2', 'a_3', 'a_1']);
    });

    test('are not begun before their time', async () => {
      const notBefore = Date.now() + 700;
      const { employ, listed } = await setUp({ ...job('a_1', 1), notBefore }, job('a_2', 2));
      const { ids, work } = recorder();
      expect(await listed()).toEqual([
        ['a_1', undefined],
        ['a_2', undefined],
      ]);
      const times: number[] = [];
      await employ((each) => {
        times.push(Date.now());
        return work(each);
      });
      await expect.poll(ids, { timeout: 5_000 }).toEqual(['a_2', 'a_1']);
      expect(times[1]).toBeGreaterThanOrEqual(notBefore);
    });

    test('are added once, however often they are asked for', async () => {
      const { backend, queue, employ, listed } = await setUp(job('a_1'), job('a_1', 9));
      await (await backend.queue()).add(job('a_1', 5));
      expect(await listed()).toEqual([['a_1', undefined]]);
      const { ids, work } = recorder();
      await employ(work);
      await expect.poll(() => listed()).toEqual([]);
      await queue.add(job('a_1'));
      await queue.add(job('a_2'));
      await expect.poll(ids).toEqual(['a_1', 'a_2']);
    });

    test('of an agent that goes on after it had ended are others', async () => {
      const { queue, employ, listed } = await setUp(job('a_1'));
      const { taken, work } = recorder();
      await employ(work);
      await expect.poll(() => listed()).toEqual([]);
      await queue.add({ ...job('a_1'), at: 17 });
      await queue.add({ ...job('a_1'), at: 17 });
      await expect.poll(() => taken.map(({ at }) => at)).toEqual([undefined, 17]);
      await expect.poll(() => listed()).toEqual([]);
    });

    test('of a swarm are listed with who works on them, the oldest first', async () => {
      const { queue, employ, listed } = await setUp(job('a_3', 3), job('a_1', 1, 's_2'));
      await queue.add({ ...job('a_1', 1), priority: 9 });
      const { taken, work } = held();
      await employ(work, {}, 'o_1.17.4711.4026531836');
      await expect.poll(() => taken.length).toBe(1);
      expect(await listed()).toEqual([
        ['a_1', undefined],
        ['a_3', 'o_1.17.4711.4026531836'],
      ]);
      expect(await listed('s_2')).toEqual([['a_1', undefined]]);
    });

    test('that are withdrawn are begun by nobody, and not added again', async () => {
      const later = { ...job('a_3', 3), notBefore: Date.now() + 500 };
      const urgent = { ...job('a_4', 4), priority: 2 };
      const { queue, employ, listed } = await setUp(job('a_1', 1), job('a_2', 2), later, urgent);
      for (const each of [job('a_1'), later, urgent]) expect(await queue.withdraw(each)).toBe(true);
      for (const each of [job('a_1'), later, urgent])
        expect(await queue.withdraw(each)).toBe(false);
      await queue.add(job('a_1', 1));
      expect(await listed()).toEqual([['a_2', undefined]]);
      const { ids, work } = recorder();
      await employ(work);
      await queue.add(job('a_5', 5));
      await expect.poll(ids).toEqual(['a_2', 'a_5']);
    });

    test('are not withdrawn when somebody works on them, they have ended or are unknown', async () => {
      const { queue, employ, listed } = await setUp(job('a_1'));
      const { taken, work, letGo } = held();
      await employ(work);
      await expect.poll(() => taken.length).toBe(1);
      expect(await queue.withdraw(job('a_1'))).toBe(false);
      letGo();
      await expect.poll(() => listed()).toEqual([]);
      expect(await queue.withdraw(job('a_1'))).toBe(false);
      expect(await queue.withdraw(job('a_9'))).toBe(false);
      expect(await queue.withdraw({ ...job('a_1'), at: 3 })).toBe(false);
    });

    test('are worked on so many at once, and no more', async () => {
      const many = Array.from({ length: 12 }, (_, age) => job(`a_${age}`, age));
      const { employ } = await setUp(...many);
      let [inside, most, done] = [0, 0, 0];
      let full: () => void = () => {};
      const isFull = new Promise<void>((resolve) => {
        full = resolve;
      });
      const workplace = await employ(
        async () => {
          inside += 1;
          most = Math.max(most, inside);
          if (inside === 3) full();
          await isFull;
          await new Promise((resolve) => setTimeout(resolve, 5));
          inside -= 1;
          done += 1;
          return 'done';
        },
        { concurrency: 3 },
      );
      await expect.poll(() => done, { timeout: 5_000 }).toBe(12);
      expect(most).toBe(3);
      await expect.poll(() => workplace.busy).toBe(0);
    });

    test('that are put off come again, and it is counted how often', async () => {
      const { employ, listed } = await setUp(job('a_1'));
      const attempts: number[] = [];
      await employ(async (each) => {
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

    test('that are put off for long can be withdrawn, and keep nobody from the others', async () => {
      const { queue, employ, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      const ids: string[] = [];
      await employ(async ({ id }) => {
        ids.push(id);
        return id === 'a_1' ? { laterMs: 3_600_000 } : 'done';
      });
      await expect.poll(() => ids).toEqual(['a_1', 'a_2']);
      await expect.poll(() => listed()).toEqual([['a_1', undefined]]);
      expect(await queue.withdraw(job('a_1'))).toBe(true);
      expect(await listed()).toEqual([]);
    });

    test('that nobody can ever do are not begun again, and not added again', async () => {
      const { queue, employ, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      const ids: string[] = [];
      await employ(async ({ id }) => {
        ids.push(id);
        return id === 'a_1' ? { never: 'There is no such swarm.' } : 'done';
      });
      await expect.poll(() => listed()).toEqual([]);
      await queue.add(job('a_1', 1));
      await queue.add(job('a_3', 3));
      await expect.poll(() => ids).toEqual(['a_1', 'a_2', 'a_3']);
    });

    test('are begun no faster than the rate that is agreed', async () => {
      const { employ } = await setUp(job('a_1', 1), job('a_2', 2), job('a_3', 3));
      const { ids, work } = recorder();
      await employ(work, { concurrency: 5, rate: { max: 2, perMs: 600_000 } });
      await expect.poll(ids).toEqual(['a_1', 'a_2']);
      // Enough time for a third job to start.
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(ids()).toEqual(['a_1', 'a_2']);
    });

    test('that were not begun do not count for the rate', async () => {
      const { employ } = await setUp(...[1, 2, 3, 4, 5, 6].map((age) => job(`a_${age}`, age)));
      const { ids, work } = recorder();
      const choosy: JobHandler = async (each) => {
        if (each.id === 'a_1') return { never: 'There is no such swarm.' };
        return each.id < 'a_4' ? { laterMs: 3_600_000, isUnbegun: true } : work(each);
      };
      await employ(choosy, { concurrency: 5, rate: { max: 2, perMs: 600_000 } });
      await expect.poll(ids, { timeout: 8_000 }).toEqual(['a_4', 'a_5']);
      // Enough time for a third job to start.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(ids()).toEqual(['a_4', 'a_5']);
    }, 20_000);

    test('are never worked on by two', async () => {
      const many = Array.from({ length: 40 }, (_, age) => job(`a_${age}`, age));
      const { backend, employ, listed } = await setUp(...many);
      const { ids, work } = recorder();
      for (const worker of ['w_1', 'w_2', 'w_3']) {
        await employ(work, { concurrency: 4 }, worker, await backend.queue());
      }
      await expect.poll(() => listed(), { timeout: 5_000 }).toEqual([]);
      expect(ids().sort()).toEqual(many.map(({ id }) => id).sort());
    });

    test('of a dead worker are done by another, who is told that they were begun before', async () => {
      const { backend, queue, employ, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      const other = await backend.queue();
      const first = held();
      await employ(first.work, { concurrency: 2 }, 'w_1', other);
      await expect.poll(() => first.taken.length).toBe(2);
      await backend.kill('w_1', other);
      await expect
        .poll(() => listed(), { timeout: 8_000 })
        .toEqual([
          ['a_1', undefined],
          ['a_2', undefined],
        ]);
      const { taken, work } = recorder();
      await employ(work, {}, 'w_2', queue);
      await expect.poll(() => listed(), { timeout: 8_000 }).toEqual([]);
      expect(taken.map(({ id, attempts }) => `${id} ${attempts}`).sort()).toEqual([
        'a_1 1',
        'a_2 1',
      ]);
    }, 20_000);

    test('of a worker that closes are given back, and it takes no more', async () => {
      const { backend, employ, listed } = await setUp(job('a_1', 1), job('a_2', 2));
      const first = held();
      const workplace = await employ(first.work, {}, 'w_1');
      await expect.poll(() => first.taken.length).toBe(1);
      expect(workplace.busy).toBe(1);
      await workplace.close();
      expect(workplace.busy).toBe(0);
      expect(await listed()).toEqual([
        ['a_1', undefined],
        ['a_2', undefined],
      ]);
      const { taken, work } = recorder();
      await employ(work, {}, 'w_2', await backend.queue());
      await expect.poll(() => taken.map(({ id }) => id)).toEqual(['a_1', 'a_2']);
      expect(first.taken).toHaveLength(1);
    });

    test.each(['', '..', '../up', 'a/b', 'a b', 'a\0b', 'a:b', 'x'.repeat(129)])(
      'cannot be called %j',
      async (id) => {
        const { queue } = await setUp();
        await expect(queue.add(job(id))).rejects.toMatchObject({ code: 'usage' });
        await expect(queue.add(job('a_1', 1, id))).rejects.toMatchObject({ code: 'usage' });
        await expect(queue.list(id)).rejects.toMatchObject({ code: 'usage' });
      },
    );

    test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 1e21])(
      'cannot be added at %d',
      async (at) => {
        const { queue } = await setUp();
        await expect(queue.add(job('a_1', at))).rejects.toMatchObject({ code: 'usage' });
      },
    );

    test.each(['', 'x'.repeat(81)])('cannot be worked on by %j', async (worker) => {
      const { employ } = await setUp();
      const nothing: JobHandler = async () => 'done';
      await expect(employ(nothing, {}, worker)).rejects.toMatchObject({ code: 'usage' });
    });
  });
};
