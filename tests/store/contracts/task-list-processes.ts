/** Contract of task lists that processes share while some of them are killed. */
import { expect, test } from 'vitest';
import type { SharedTaskList } from '../../../src/protocol/session/shared-task-list.js';
import { bundled, startWorker, type Worker } from '../child-program.js';
import { actionBy } from './shared-task-list.js';

export interface SharedTasks {
  readonly tasks: SharedTaskList;
  start(name: string): Promise<Worker>;
}

/** Returns a function that starts processes with the task list at `place`, a folder or a Redis URL. */
export const taskProcesses = async (
  program: string,
  place: string,
  ...more: readonly string[]
): Promise<SharedTasks['start']> => {
  const path = await bundled(program);
  return async (name) => {
    const worker = startWorker(path, place, name, ...more);
    expect(await worker.answer()).toBe('ready');
    return worker;
  };
};

/** Reads the output of a process until `done`, or until the process is dead. */
export const outputOf = async (
  worker: Worker,
  onLine: (count: number) => void,
): Promise<readonly string[]> => {
  const lines: string[] = [];
  for (;;) {
    const line = await worker.answer().catch(() => 'dead');
    if (line === 'done' || line === 'dead') return lines;
    lines.push(line);
    onLine(lines.length);
  }
};

/** Two processes add tasks, and each is killed after a number of results. Returns all results. */
export const addUntilKilled = async (
  start: SharedTasks['start'],
  after: number,
  meanwhile: () => Promise<void> = async () => {},
): Promise<readonly string[]> => {
  const workers = await Promise.all([start('ann'), start('bob')]);
  for (const worker of workers) worker.tell('create 500');
  const outputs = workers.map((worker) =>
    outputOf(worker, (count) => {
      if (count === after) void worker.kill();
    }),
  );
  await meanwhile();
  return (await Promise.all(outputs)).flat();
};

/** For a `describe` of processes that share a task list. */
export const testSharedTaskList = (setUp: () => Promise<SharedTasks>): void => {
  test('claim a thousand tasks at once, each by exactly one process', async () => {
    const { tasks, start } = await setUp();
    for (let at = 1; at <= 1_000; at += 1) {
      await tasks.create({ subject: `item ${at}`, description: '' }, actionBy('lead'));
    }
    const names = ['ann', 'bob', 'cyd', 'dan'];
    const workers = await Promise.all(names.map(start));
    for (const worker of workers) worker.tell('claim');
    // A process is killed meanwhile. The tasks that it claimed stay its own.
    const claimed = await Promise.all(
      workers.map((worker, at) =>
        outputOf(worker, (count) => {
          if (at === 0 && count === 50) void worker.kill();
        }),
      ),
    );
    const owners = new Map((await tasks.list()).map(({ id, owner }) => [id, owner]));
    const reported = claimed.flatMap((ids, at) => ids.map((id) => [id, names[at]] as const));
    expect(new Set(reported.map(([id]) => id)).size).toBe(reported.length);
    expect(reported.filter(([id, name]) => owners.get(id) !== name)).toEqual([]);
    expect([...owners.values()].filter((owner) => owner === undefined)).toEqual([]);
    const unreported = [...owners].filter(([id]) => !reported.some(([known]) => known === id));
    // Only the last claim before its death can be unreported.
    expect(unreported.filter(([, owner]) => owner !== 'ann')).toEqual([]);
  });
};

/** Expects that the list has all reported tasks once, with ids without gaps. */
export const expectKept = async (
  tasks: SharedTaskList,
  reported: readonly string[],
): Promise<void> => {
  const ids = (await tasks.list()).map(({ id }) => id);
  expect(ids).toEqual(ids.map((_, at) => String(at + 1)));
  expect(reported.filter((id) => !ids.includes(id))).toEqual([]);
  expect(new Set(reported).size).toBe(reported.length);
};
