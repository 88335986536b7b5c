import fs from 'node:fs';
import { join } from 'node:path';
import { JobFiles } from '../../src/store/job-files.js';
import { describeJobQueue } from './contracts/job-queue.js';
import { temporaryFolder } from './session-folder.js';

describeJobQueue('in files', () => {
  const root = temporaryFolder();
  for (const swarm of ['s_1', 's_2']) fs.mkdirSync(join(root, swarm));
  const dead = new Set<string>();
  return {
    queue: () => new JobFiles(root, (worker) => !dead.has(worker)),
    kill: (worker) => void dead.add(worker),
  };
});
