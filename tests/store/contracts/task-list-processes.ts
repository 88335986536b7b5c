/** Contract of task lists that processes share while some of them are killed. */
import { expect, test } from 'vitest';
import type { SharedTaskList } from '../../../src/protocol/session/shared-task-list.js';
import { bundled, startWorker, type Worker } from '../child-program.js';
import { act } from './shared-task-list.js';

export interface SharedWork {
  readonly work: SharedTaskList;
  start(name: string): Promise<Worker>;
}

/** Starts processes that claim and create in the list that `place` says. */
export const claimants = async (
  program: string,
  place: string,
  ...more: readonly string[]
): Promise<SharedWork['start']> => {
  const path = await bundled(program);
  return async (name) => {
    const worker = startWorker(path, place, name, ...more);
    expect(await worker.answer()).toBe('ready');
    return worker;
  };
};

/** All that it says until it is done, or dead. */
export const wordsOf = async (
  worker: Worker,
  heard: (count: number) => void,
): Promise<readonly string[]> => {
  const words: string[] = [];
  for (;;) {
    const word = await worker.answer().catch(() => 'dead');
    if (word === 'done' || word === 'dead') return words;
    words.push(word);
    heard(words.length);
  }
};

/** Two processes add tasks, and each is killed after a number of results. Returns all results. */
export const addAndDie = async (
  start: SharedWork['start'],
  after: number,
  meanwhile: () => Promise<void> = async () => {},
): Promise<readonly string[]> => {
  const workers = await Promise.all([start('ann'), start('bob')]);
  for (const worker of workers) worker.tell('create 500');
  const words = workers.map((worker) =>
    wordsOf(worker, (count) => {
      if (count === after) void worker.kill();
    }),
  );
  await meanwhile();
  return (await Promise.all(words)).flat();
};

/** Inside a `describe` of processes that share a list. */
export const testSharedWorkList = (setUp: () => Promise<SharedWork>): void => {
  test('race for a thousand items, and each is got by exactly one', async () => {
    const { work, start } = await setUp();
    for (let at = 1; at <= 1_000; at += 1) {
      await work.create({ subject: `item ${at}`, description: '' }, act('lead'));
    }
    const names = ['ann', 'bob', 'cyd', 'dan'];
    const workers = await Promise.all(names.map(start));
    for (const worker of workers) worker.tell('claim');
    // A process is killed meanwhile. The tasks that it claimed stay its own.
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
    // Only the last claim before its death can be unreported.
    expect(untold.filter(([, owner]) => owner !== 'ann')).toEqual([]);
  });
};

/** All that were told are there, each once, and the ids have no gaps. */
export const expectKept = async (work: SharedTaskList, told: readonly string[]): Promise<void> => {
  const ids = (await work.list()).map(({ id }) => id);
  expect(ids).toEqual(ids.map((_, at) => String(at + 1)));
  expect(told.filter((id) => !ids.includes(id))).toEqual([]);
  expect(new Set(told).size).toBe(told.length);
};
