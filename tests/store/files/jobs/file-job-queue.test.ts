import fs from 'node:fs';
import { join } from 'node:path';
import { FileJobQueue } from '../../../../src/store/files/jobs/file-job-queue.js';
import { describeJobQueue } from '../../contracts/job-queue.js';
import { describeLocalJobs } from '../../contracts/local-jobs.js';
import { temporaryFolder } from '../../session-folder.js';

const open = () => {
  const root = temporaryFolder();
  for (const swarm of ['s_1', 's_2']) fs.mkdirSync(join(root, swarm));
  const dead = new Set<string>();
  const kill = (worker: string) => void dead.add(worker);
  const queue = () => new FileJobQueue(root, (worker) => !dead.has(worker));
  return { queue, kill, options: { swarm: 's_1' } };
};

describeJobQueue('in files', open);
describeLocalJobs('in files', open);
