/** A shard of a workspace in a thread of its own, so that a scan does not hold up the agents. */
import { Worker } from 'node:worker_threads';
import type { ScanEnd, ScanStart, ShardBounds, ShardFolder, ShardReport } from './file-shard.js';
import type { Shard } from './local-shard.js';

export interface ShardThreadData {
  readonly checkpointFolder: string;
  readonly bounds: ShardBounds;
}

export type ShardRequest =
  | { readonly type: 'begin'; readonly start: ScanStart }
  | { readonly type: 'take'; readonly folders: readonly ShardFolder[] }
  | { readonly type: 'end'; readonly request: ScanEnd };

export type ShardReply = { readonly report: ShardReport } | { readonly failure: string };

interface Waiter {
  readonly resolve: (report: ShardReport) => void;
  readonly reject: (error: Error) => void;
}

/** `program` is the path of the bundled shard-thread.ts. Does not keep the process alive. */
export const threadShard = (program: string, data: ShardThreadData): Shard => {
  // No environment and no options: the thread needs neither secrets nor the preloads of the process.
  const thread = new Worker(program, { workerData: data, env: {}, execArgv: [], name: 'scan' });
  let waiter: Waiter | undefined;
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure ??= error;
    waiter?.reject(failure);
    waiter = undefined;
  };
  thread.on('message', (reply: ShardReply) => {
    if ('failure' in reply) fail(new Error(reply.failure));
    else {
      waiter?.resolve(reply.report);
      waiter = undefined;
    }
    thread.unref();
  });
  thread.on('error', fail);
  thread.on('exit', (code) => fail(new Error(`the thread ended with code ${code}`)));
  thread.unref();
  const send = (request: ShardRequest) => {
    if (failure === undefined) thread.postMessage(request);
  };
  return {
    begin: (start) => send({ type: 'begin', start }),
    take: (folders) => send({ type: 'take', folders }),
    end: (request) =>
      new Promise((resolve, reject) => {
        waiter = { resolve, reject };
        if (failure !== undefined) fail(failure);
        // A scan that a call waits for keeps the process alive.
        thread.ref();
        send({ type: 'end', request });
      }),
    close: () => void thread.terminate(),
  };
};
