/** Several processes of one machine share a list of work, and some of them are killed. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/protocol/clock.js';
import { WorkFiles } from '../../src/store/work-files.js';
import { bundled, startWorker, type Worker } from './child-program.js';
import { act } from './contracts/work-list.js';
import { temporaryFolder } from './session-folder.js';

const setUp = async (...more: readonly string[]) => {
  const folder = temporaryFolder();
  const program = await bundled('claim-work');
  const start = async (name: string): Promise<Worker> => {
    const worker = startWorker(program, folder, name, ...more);
    expect(await worker.answer()).toBe('ready');
    return worker;
  };
  return { folder, start };
};

/** All that it says until it is done, or dead. */
const wordsOf = async (worker: Worker, heard: (count: number) => void = () => {}) => {
  const words: string[] = [];
  for (;;) {
    const word = await worker.answer().catch(() => 'dead');
    if (word === 'done' || word === 'dead') return words;
    words.push(word);
    heard(words.length);
  }
};

describe('processes that share a list of work', () => {
  test('race for a thousand items, and each is got by exactly one', async () => {
    const { folder, start } = await setUp();
    const work = new WorkFiles(folder, systemClock);
    for (let at = 1; at <= 1_000; at += 1) {
      await work.create({ subject: `item ${at}`, description: '' }, act('lead'));
    }
    const names = ['ann', 'bob', 'cyd', 'dan'];
    const workers = await Promise.all(names.map(start));
    for (const worker of workers) worker.tell('claim');
    // One of them is killed on the way, and what it was told that it got is its own all the same.
    const got = await Promise.all(
      workers.map((worker, at) =>
        wordsOf(worker, (count) => {
          if (at === 0 && count === 50) void worker.kill();
        }),
      ),
    );
    const owners = new Map((await work.list()).map(({ id, owner }) => [id, owner]));
    const told = got.flatMap((ids, at) => ids.map((id) => [id, names[at]] as const));
    expect(new Set(told.map(([id]) => id)).size).toBe(told.length);
    expect(told.filter(([id, name]) => owners.get(id) !== name)).toEqual([]);
    expect([...owners.values()].filter((owner) => owner === undefined)).toEqual([]);
    const untold = [...owners].filter(([id]) => !told.some(([known]) => known === id));
    // What it got in the moment of its death, and no more than that, it could not say.
    expect(untold.filter(([, owner]) => owner !== 'ann')).toEqual([]);
  });

  test('lose nothing that one was told it had added, whenever it is killed', async () => {
    const { folder, start } = await setUp('4');
    const told: string[] = [];
    for (const round of [1, 2, 3, 5, 8, 13, 21]) {
      const workers = await Promise.all([start('ann'), start('bob')]);
      for (const worker of workers) worker.tell('create 500');
      const words = workers.map((worker) =>
        wordsOf(worker, (count) => {
          if (count === round) void worker.kill();
        }),
      );
      told.push(...(await Promise.all(words)).flat());
      const ids = (await new WorkFiles(folder, systemClock, 4).list()).map(({ id }) => id);
      expect(ids).toEqual(ids.map((_, at) => String(at + 1)));
      expect(told.filter((id) => !ids.includes(id))).toEqual([]);
    }
    expect(new Set(told).size).toBe(told.length);
  });
});
