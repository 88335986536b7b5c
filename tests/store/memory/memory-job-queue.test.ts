import { MemoryJobQueue } from '../../../src/store/memory/memory-job-queue.js';
import { describeJobQueue } from '../contracts/job-queue.js';
import { describeLocalJobs } from '../contracts/local-jobs.js';

const open = () => {
  const dead = new Set<string>();
  const queue = new MemoryJobQueue((worker) => !dead.has(worker));
  const kill = (worker: string) => void dead.add(worker);
  return { queue: () => queue, kill, options: { swarm: 's_1' } };
};

describeJobQueue('in memory', open);
describeLocalJobs('in memory', open);
