/** Processes of a machine share a task list, and some of the processes are killed. */
import { describe, test } from 'vitest';
import { systemClock } from '../../src/protocol/clock.js';
import { FileTaskList } from '../../src/store/files/tasks/file-task-list.js';
import {
  addUntilKilled,
  expectKept,
  taskProcesses,
  testSharedTaskList,
} from './contracts/task-list-processes.js';
import { temporaryFolder } from './session-folder.js';

describe('processes that share a task list', () => {
  testSharedTaskList(async () => {
    const folder = temporaryFolder();
    const start = await taskProcesses('claim-tasks', folder);
    return { tasks: new FileTaskList(folder, systemClock), start };
  });

  test('lose no confirmed task when they are killed', async () => {
    const folder = temporaryFolder();
    const start = await taskProcesses('claim-tasks', folder, '4');
    const added: string[] = [];
    for (const round of [1, 2, 3, 5, 8, 13, 21]) {
      added.push(...(await addUntilKilled(start, round)));
      await expectKept(new FileTaskList(folder, systemClock, 4), added);
    }
  });
});
