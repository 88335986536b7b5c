/** Program of a thread that scans a share of a workspace. Started by thread-shard.ts. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { blobBatches } from '../../store/files/checkpoints/blob-batch.js';
import { FileShard } from './file-shard.js';
import { localShard } from './local-shard.js';
import type { ShardReply, ShardRequest, ShardThreadData } from './thread-shard.js';

/** Below that of the thread that serves the agents. */
const NICENESS = 5;

/** Linux has a priority for each thread; elsewhere it would be that of the process. */
const lowerPriority = (): void => {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // A container may forbid the call. The thread scans all the same.
  }
};

lowerPriority();

const { checkpointFolder, bounds } = workerData as ShardThreadData;
const shard = localShard(new FileShard(blobBatches(checkpointFolder), bounds));
const reply = (message: ShardReply) => parentPort?.postMessage(message);

parentPort?.on('message', (request: ShardRequest) => {
  switch (request.type) {
    case 'begin':
      shard.begin(request.start);
      break;
    case 'take':
      shard.take(request.folders);
      break;
    case 'end':
      shard.end(request.request).then(
        (report) => reply({ report }),
        (error: unknown) => reply({ failure: String(error) }),
      );
  }
});
