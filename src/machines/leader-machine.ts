/**
 * The leader of a swarm: supervises child agents by id.
 *
 *   leading ──swarm.close──▶ over
 *
 *   child.spawn    ▶ startChild | queueChild | refuseChild     (decide-admission.ts)
 *   slot.released  ▶ startNextChild
 *   child.crashed  ▶ restartChild | failChild                  (restart-policy.ts)
 *   child.stop     ▶ stopSubtree
 *
 * Pure. The effects are slots that actors/swarm/agent-scheduler.ts and actors/swarm/agent-lifecycle.ts fill.
 * The leader counts children and holds no references to them, so its cost does not grow with their number. A
 * child that waits for a child of its own lends or releases its concurrency slot, so a tree of waiting agents
 * cannot block itself. A child that wakes takes a slot at once, over the limit if need be, because others wait
 * for its result.
 */
import { assign, enqueueActions, setup } from 'xstate';
import type { ChildKind } from '../protocol/agent/agent-tag.js';
import type { Stop } from '../protocol/agent/stop.js';
import type { SwarmLimits } from '../protocol/agent/swarm-limits.js';
import {
  type AdmissionRefusal,
  type AdmissionRequest,
  countAdmission,
  decideAdmission,
  NO_SLOTS_USED,
  releaseSlot,
  type SlotCounts,
} from './decide-admission.js';
import { type Restart, restartOf } from './restart-policy.js';
import { stops } from './stops.js';

export type LeaderEvent =
  | ChildSpawn
  /** A child ended or waits for others, and its slot is free. */
  | { readonly type: 'slot.released' }
  /** A child that had released its slot continues, over the limit if need be. */
  | { readonly type: 'slot.retaken' }
  /** A queued child left the queue: it will not start, or borrows its parent's slot. */
  | { readonly type: 'queue.left' }
  | ChildCrash
  | ChildStop
  /** A new run of the lead: spawns are counted from zero. */
  | { readonly type: 'run.begin' }
  /** The lead resumes a run of a dead process, in which `spawned` children were spawned. */
  | { readonly type: 'run.resume'; readonly spawned: number }
  | { readonly type: 'swarm.close' };

export interface ChildSpawn extends AdmissionRequest {
  readonly type: 'child.spawn';
  readonly id: string;
}

export interface ChildCrash {
  readonly type: 'child.crashed';
  readonly id: string;
  readonly kind: ChildKind;
  /** Times of earlier crashes after which the child was restarted, in milliseconds. */
  readonly crashes: readonly number[];
  /** Present time, in milliseconds. */
  readonly now: number;
  readonly stop: Stop;
}

export interface ChildStop {
  readonly type: 'child.stop';
  readonly id: string;
  readonly stop: Stop;
  /** True if a person stopped the parent of the child. */
  readonly isParentStopped: boolean;
}

/** Effects of the leader, performed in order after the new state is in place. */
export type LeaderEffect =
  | { readonly type: 'startChild'; readonly params: { readonly id: string } }
  | { readonly type: 'queueChild'; readonly params: { readonly id: string } }
  | {
      readonly type: 'refuseChild';
      readonly params: { readonly id: string; readonly why: AdmissionRefusal };
    }
  | { readonly type: 'startNextChild' }
  | {
      readonly type: 'restartChild';
      readonly params: { readonly id: string; readonly restart: Restart; readonly stop: Stop };
    }
  | { readonly type: 'failChild'; readonly params: { readonly id: string; readonly stop: Stop } }
  | {
      readonly type: 'stopSubtree';
      readonly params: { readonly id: string; readonly stop: Stop };
    };

interface LeaderContext {
  readonly limits: SwarmLimits;
  readonly counts: SlotCounts;
}

type ParamsOf<Type extends LeaderEffect['type']> = Extract<
  LeaderEffect,
  { readonly type: Type; readonly params: unknown }
>['params'];

/** An effect that the host of the machine performs. */
const effect =
  <Params>() =>
  (..._args: [unknown, Params]) => {};

export const leaderMachine = setup({
  types: {} as { input: SwarmLimits; context: LeaderContext; events: LeaderEvent },
  actions: {
    startChild: effect<ParamsOf<'startChild'>>(),
    queueChild: effect<ParamsOf<'queueChild'>>(),
    refuseChild: effect<ParamsOf<'refuseChild'>>(),
    startNextChild: () => {},
    restartChild: effect<ParamsOf<'restartChild'>>(),
    failChild: effect<ParamsOf<'failChild'>>(),
    stopSubtree: effect<ParamsOf<'stopSubtree'>>(),
    countRetakenSlot: assign({
      counts: ({ context: { counts } }) => ({ ...counts, live: counts.live + 1 }),
    }),
    leaveQueue: assign({
      counts: ({ context: { counts } }) => ({ ...counts, queued: counts.queued - 1 }),
    }),
    setSpawned: assign({
      counts: ({ context: { counts } }, { spawned }: { spawned: number }) => {
        return { ...counts, spawned };
      },
    }),
  },
}).createMachine({
  id: 'leader',
  context: ({ input }) => ({ limits: input, counts: NO_SLOTS_USED }),
  initial: 'leading',
  states: {
    leading: {
      on: {
        'child.spawn': {
          actions: enqueueActions(({ context: { counts, limits }, event, enqueue }) => {
            const { id } = event;
            const decision = decideAdmission(counts, limits, event);
            if (typeof decision === 'object') {
              enqueue({ type: 'refuseChild', params: { id, why: decision.refuse } });
              return;
            }
            enqueue.assign({ counts: countAdmission(counts, decision, event) });
            enqueue({ type: decision === 'start' ? 'startChild' : 'queueChild', params: { id } });
          }),
        },
        'slot.released': {
          actions: enqueueActions(({ context, enqueue }) => {
            const { counts, startsNext } = releaseSlot(context.counts, context.limits);
            enqueue.assign({ counts });
            if (startsNext) enqueue('startNextChild');
          }),
        },
        'slot.retaken': { actions: 'countRetakenSlot' },
        'queue.left': { actions: 'leaveQueue' },
        'child.crashed': {
          actions: enqueueActions(({ event, enqueue }) => {
            const { id, kind, crashes, now, stop } = event;
            const restart = restartOf(kind, crashes, now);
            if (restart === undefined) {
              const failed = stops.afterRestarts(stop, crashes.length);
              enqueue({ type: 'failChild', params: { id, stop: failed } });
            } else enqueue({ type: 'restartChild', params: { id, restart, stop } });
          }),
        },
        'child.stop': {
          actions: {
            type: 'stopSubtree',
            params: ({ event: { id, stop, isParentStopped } }) => {
              const isInherited = isParentStopped && stop.reason !== 'stopped';
              return { id, stop: isInherited ? stops.PARENT_STOPPED : stop };
            },
          },
        },
        'run.begin': { actions: { type: 'setSpawned', params: { spawned: 0 } } },
        'run.resume': { actions: { type: 'setSpawned', params: ({ event }) => event } },
        'swarm.close': 'over',
      },
    },
    over: {
      on: {
        'child.spawn': {
          actions: {
            type: 'refuseChild',
            params: ({ event: { id } }) => ({ id, why: 'over' as const }),
          },
        },
      },
    },
  },
});
