/** Checkpoints without files, for agents whose calls change none. */
import type { Checkpointer } from '../../../src/actors/checkpoints/checkpointer.js';
import type { FileChange, WatchedCall } from '../../../src/protocol/session/checkpoints.js';

/** Calls `watch` for each call, and the function that it returns when the call has ended. */
export const fakeCheckpoints = (
  watch: (call: WatchedCall) => Promise<() => Promise<readonly FileChange[]>>,
  isDeferred = false,
): Checkpointer => ({
  prepare() {},
  watch: async (call) => ({ isDeferred, changes: await watch(call), cancel() {} }),
  settle: async () => {},
  close() {},
});
