/** Records that an agent waits for the lock of a working tree. */
import { StorageError } from '../../protocol/skein-error.js';
import type { OnLockWait } from '../../protocol/tools/worktrees.js';
import type { JournaledState } from '../agent/journaled-state.js';

/** Returns a callback that records a lock wait. `child` is set if the child has no journal yet. */
export const recordLockWait =
  (journal: JournaledState, child?: string): OnLockWait =>
  (holder, place) => {
    try {
      journal.record({
        type: 'lock.awaited',
        place,
        holder,
        ...(child !== undefined && { child }),
      });
    } catch (error) {
      // The next required record meets the same storage failure, and the merge must not be lost.
      if (!(error instanceof StorageError)) throw error;
    }
  };
