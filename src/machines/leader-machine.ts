/**
 * The leader of a swarm: who may start, who waits for a place, who is refused.
 *
 *   leading ──swarm.close──▶ over
 *
 * Pure: it counts agents and never knows them, so a thousand of them cost it nothing. actors/swarm/swarm.ts
 * fills the slot `nursery`, which knows who waits and starts them. An agent that waits for a child of
 * its own lends it its place, or rests and leaves it to anybody, so a tree of waiting agents can never
 * stand in its own way. One that is woken goes on at once, also when that is one more than there are
 * places: it holds up what others wait for.
 */
import { assign, sendTo, setup } from 'xstate';
import type {
  LeaderContext,
  LeaderEvent,
  Refusal,
  SchedulerOrder,
  SwarmLimits,
} from '../protocol/agent/leader.js';
import { slot } from './slot.js';

export const leaderMachine = setup({
  types: {} as { input: SwarmLimits; context: LeaderContext; events: LeaderEvent },
  actors: { nursery: slot<SchedulerOrder, undefined>('nursery') },
  guards: {
    // One that is taken up again was asked for when it might.
    isTooDeep: ({ context }, { depth, isNew }: { depth: number; isNew: boolean }) =>
      isNew && depth > context.limits.maxDepth,
    isOneTooMany: ({ context }, { isNew }: { isNew: boolean }) =>
      isNew && context.spawned >= context.limits.maxAgents,
    isWithoutPlaces: ({ context }) => context.limits.maxConcurrentAgents === 0,
    isFull: ({ context }, { borrows }: { borrows: boolean }) =>
      !borrows && context.live >= context.limits.maxConcurrentAgents,
    isLent: (_, { borrowed }: { borrowed: boolean }) => borrowed,
    isAwaited: ({ context }) => context.waiting > 0,
    isOverfull: ({ context }) => context.live > context.limits.maxConcurrentAgents,
  },
  actions: {
    countSpawn: assign({
      spawned: ({ context }, { isNew }: { isNew: boolean }) => context.spawned + (isNew ? 1 : 0),
    }),
    takePlace: assign({
      live: ({ context }, { borrows }: { borrows: boolean }) => context.live + (borrows ? 0 : 1),
    }),
    givePlaceBack: assign({ live: ({ context }) => context.live - 1 }),
    joinQueue: assign({ waiting: ({ context }) => context.waiting + 1 }),
    leaveQueue: assign({ waiting: ({ context }) => context.waiting - 1 }),
    forgetSpawns: assign({ spawned: 0 }),
    recallSpawns: assign({ spawned: (_, { spawned }: { spawned: number }) => spawned }),
    start: sendTo('nursery', (_, { id }: { id: string }) => ({ type: 'child.start', id }) as const),
    queue: sendTo('nursery', (_, { id }: { id: string }) => ({ type: 'child.queue', id }) as const),
    startNext: sendTo('nursery', { type: 'child.next' } as const),
    refuse: sendTo('nursery', (_, { id, why }: { id: string; why: Refusal }) => {
      return { type: 'child.refuse', id, why } as const;
    }),
  },
}).createMachine({
  id: 'leader',
  context: ({ input }) => ({ limits: input, spawned: 0, live: 0, waiting: 0 }),
  invoke: { id: 'nursery', src: 'nursery' },
  initial: 'leading',
  states: {
    leading: {
      on: {
        'agent.spawn': [
          {
            guard: { type: 'isTooDeep', params: ({ event }) => event },
            actions: { type: 'refuse', params: ({ event: { id } }) => ({ id, why: 'depth' }) },
          },
          {
            guard: { type: 'isOneTooMany', params: ({ event }) => event },
            actions: { type: 'refuse', params: ({ event: { id } }) => ({ id, why: 'total' }) },
          },
          {
            // Nobody's end would ever let it go on.
            guard: 'isWithoutPlaces',
            actions: { type: 'refuse', params: ({ event: { id } }) => ({ id, why: 'none' }) },
          },
          {
            guard: { type: 'isFull', params: ({ event }) => event },
            actions: [
              { type: 'countSpawn', params: ({ event }) => event },
              'joinQueue',
              { type: 'queue', params: ({ event }) => event },
            ],
          },
          {
            actions: [
              { type: 'countSpawn', params: ({ event }) => event },
              { type: 'takePlace', params: ({ event }) => event },
              { type: 'start', params: ({ event }) => event },
            ],
          },
        ],
        'agent.stopped': [
          { guard: { type: 'isLent', params: ({ event }) => event } },
          { guard: 'isOverfull', actions: 'givePlaceBack' },
          // The place goes to whoever has waited longest.
          { guard: 'isAwaited', actions: ['leaveQueue', 'startNext'] },
          { actions: 'givePlaceBack' },
        ],
        'agent.rested': [
          { guard: 'isOverfull', actions: 'givePlaceBack' },
          { guard: 'isAwaited', actions: ['leaveQueue', 'startNext'] },
          { actions: 'givePlaceBack' },
        ],
        'agent.woken': { actions: { type: 'takePlace', params: { borrows: false } } },
        // One that waited has gone, or got its parent's place.
        'agent.withdraw': { actions: 'leaveQueue' },
        'run.begin': { actions: 'forgetSpawns' },
        'run.resume': { actions: { type: 'recallSpawns', params: ({ event }) => event } },
        'swarm.close': 'over',
      },
    },
    over: {
      on: {
        'agent.spawn': {
          actions: { type: 'refuse', params: ({ event: { id } }) => ({ id, why: 'over' }) },
        },
      },
    },
  },
});
