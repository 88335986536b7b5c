/** Events and effects of the child machine. */
import type { Stop } from '../protocol/agent/stop.js';
import type { Restart } from './restart-policy.js';

export type ChildEvent =
  /** The child has records and a slot, or waits for a slot. */
  | { readonly type: 'child.admit'; readonly isQueued: boolean }
  /** The slot that a woken child asked for is not free yet. */
  | { readonly type: 'slot.awaited' }
  | { readonly type: 'slot.granted' }
  /** The agent machine entered `idle`: the agent waits for its own children or for letters. */
  | { readonly type: 'agent.idle' }
  | { readonly type: 'agent.busy' }
  /** A run of a teammate ended and is journaled. `run` is its number. */
  | {
      readonly type: 'run.ended';
      readonly stop: Stop;
      readonly run: number;
      /** True if children of the teammate have still to report, which starts another run. */
      readonly hasPendingChildren: boolean;
    }
  /** The worktree of the idle teammate is merged. */
  | { readonly type: 'idle.ready'; readonly run: number; readonly stop: Stop }
  /** A letter arrived for a teammate that is held. */
  | { readonly type: 'letter.held' }
  /** The agent machine stopped for good. */
  | { readonly type: 'agent.ended'; readonly stop: Stop }
  | { readonly type: 'agent.crashed'; readonly stop: Stop }
  | { readonly type: 'child.stop'; readonly stop: Stop }
  /** Answers of the leader to a crash. */
  | { readonly type: 'child.restart'; readonly restart: Restart; readonly stop: Stop }
  | { readonly type: 'child.fail'; readonly stop: Stop }
  | { readonly type: 'restart.due'; readonly stop: Stop }
  /** The child could not be rebuilt, or its journal refused the restart. */
  | { readonly type: 'restart.failed'; readonly stop: Stop }
  /** Another process continues with the child. */
  | { readonly type: 'child.drop' }
  | { readonly type: 'shutdown.ended'; readonly stop: Stop }
  | { readonly type: 'swarm.closed' };

/** Effects of a life, performed by its host. */
export type ChildEffect =
  | { readonly type: 'startAgent' }
  | { readonly type: 'resumeAgent' }
  | { readonly type: 'interruptAgent'; readonly params: { readonly stop: Stop } }
  /** Ends the agent's actor without a record. */
  | { readonly type: 'disposeAgent' }
  /** Gives the slot to others until `retakeSlot`. */
  | { readonly type: 'lendSlot' }
  | { readonly type: 'retakeSlot' }
  | { readonly type: 'requestSlot' }
  /** Gives the slot up for good, or leaves the queue. */
  | { readonly type: 'releaseSlot' }
  /** Counts the child as working and starts its timeouts. */
  | { readonly type: 'beginWork' }
  | { readonly type: 'stopTimeouts' }
  | {
      readonly type: 'mergeIdleWorktree';
      readonly params: { readonly run: number; readonly stop: Stop };
    }
  /** Reports the finished run to the parent and holds the agent. */
  | { readonly type: 'reportIdle'; readonly params: { readonly stop: Stop } }
  | { readonly type: 'notifyLeader'; readonly params: { readonly stop: Stop } }
  | {
      readonly type: 'scheduleRestart';
      readonly params: { readonly restart: Restart; readonly stop: Stop };
    }
  | { readonly type: 'cancelRestart' }
  | { readonly type: 'rebuild'; readonly params: { readonly stop: Stop } }
  /** Journals the end of a child whose agent machine cannot do so. */
  | { readonly type: 'recordEnd'; readonly params: { readonly stop: Stop } }
  /** Stops the subtree, merges the worktree, closes the journal and reports to the parent. */
  | { readonly type: 'shutDown'; readonly params: { readonly stop: Stop } };
