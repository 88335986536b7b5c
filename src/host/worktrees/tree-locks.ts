/** Locks on working trees: one operation at a time per tree. A waiting agent is notified of the holder. */
import { KeyedMutex } from '../../lib/async/keyed-mutex.js';
import type { OnLockWait } from '../../protocol/tools/worktrees.js';

export interface TreeLockOptions {
  readonly agent: string;
  readonly onWait?: OnLockWait;
}

export class TreeLocks {
  private readonly mutex = new KeyedMutex();
  /** Agent that holds the lock, by tree. */
  private readonly holders = new Map<string, string>();

  async run<Result>(
    top: string,
    { agent, onWait }: TreeLockOptions,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const holder = this.holders.get(top);
    if (!this.mutex.isLocked(top)) this.holders.set(top, agent);
    else if (holder !== undefined) onWait?.(holder, top);
    try {
      return await this.mutex.run(top, () => {
        this.holders.set(top, agent);
        return work();
      });
    } finally {
      if (!this.mutex.isLocked(top)) this.holders.delete(top);
    }
  }
}
