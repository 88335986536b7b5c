/** A shard of a workspace, behind orders that are carried out one after the other. */
import type { FileShard, ScanEnd, ScanStart, ShardFolder, ShardReport } from './file-shard.js';

export interface Shard {
  begin(start: ScanStart): void;
  take(folders: readonly ShardFolder[]): void;
  /** Rejects if the shard has failed; then it must not be used any more. */
  end(request: ScanEnd): Promise<ShardReport>;
  close(): void;
}

export const localShard = (shard: FileShard): Shard => {
  let done: Promise<void> = Promise.resolve();
  const enqueue = <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    const result = done.then(work);
    done = result.then(
      () => undefined,
      // The end of the scan fails too.
      () => undefined,
    );
    return result;
  };
  let failure: Error | undefined;
  const attempt = (work: () => void | Promise<void>) =>
    void enqueue(work).catch((error: unknown) => {
      failure ??= error instanceof Error ? error : new Error(String(error));
    });
  return {
    begin: (start) => attempt(() => shard.begin(start)),
    take: (folders) => attempt(() => shard.take(folders)),
    end: (request) =>
      enqueue(() => {
        if (failure !== undefined) throw failure;
        return shard.end(request);
      }),
    close: () => shard.close(),
  };
};
