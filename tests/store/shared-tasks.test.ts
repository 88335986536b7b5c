/** Processes of a machine that share a task list, while some of them are killed. */
import { describe, test } from 'vitest';
import { systemClock } from '../../src/protocol/clock.js';
import { FileTaskList } from '../../src/store/files/tasks/file-task-list.js';
import {
  addAndDie,
  claimants,
  expectKept,
  testSharedWorkList,
} from './contracts/task-list-processes.js';
import { temporaryFolder } from './session-folder.js';

describe('processes that share a list of work', () => {
  testSharedWorkList(async () => {
    const folder = temporaryFolder();
    const start = await claimants('claim-work', folder);
    return { work: new FileTaskList(folder, systemClock), start };
  });

  test('lose nothing that one was told it had added, whenever it is killed', async () => {
    const folder = temporaryFolder();
    const start = await claimants('claim-work', folder, '4');
    const told: string[] = [];
    for (const round of [1, 2, 3, 5, 8, 13, 21]) {
      told.push(...(await addAndDie(start, round)));
      await expectKept(new FileTaskList(folder, systemClock, 4), told);
    }
  });
});
