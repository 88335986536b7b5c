import { JobMemory } from '../../src/store/job-memory.js';
import { describeJobQueue } from './contracts/job-queue.js';

describeJobQueue('in memory', () => {
  const dead = new Set<string>();
  const queue = new JobMemory((worker) => !dead.has(worker));
  return { queue: () => queue, kill: (worker) => void dead.add(worker) };
});
