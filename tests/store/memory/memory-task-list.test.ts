import { systemClock } from '../../../src/protocol/clock.js';
import { MemoryTaskList } from '../../../src/store/memory/memory-task-list.js';
import { describeTaskList } from '../contracts/shared-task-list.js';

describeTaskList('in memory', () => {
  const tasks = new MemoryTaskList(systemClock);
  return { open: () => tasks };
});
