import { systemClock } from '../../../src/protocol/clock.js';
import { MemoryTaskList } from '../../../src/store/memory/memory-task-list.js';
import { describeWorkList } from '../contracts/shared-task-list.js';

describeWorkList('in memory', () => {
  const work = new MemoryTaskList(systemClock);
  return { open: () => work };
});
