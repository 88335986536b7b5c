/**
 * The life of a child agent in the process that runs it.
 *
 *   work      lost ──▶ queued | starting ──▶ running ◀──▶ waiting
 *             child.admit          slot.granted    agent.idle, agent.busy
 *
 *   teammate  waiting ──▶ reporting ──▶ idle ──▶ waking ──▶ running
 *             run.ended          idle.ready  letter.held  agent.busy
 *
 *   crash     a state with an agent ──▶ crashed ──▶ restarting ──▶ rebuilding ──▶ queued | starting
 *             agent.crashed               child.restart   restart.due    child.admit
 *
 *   end       a state with an agent ──▶ ending ──▶ ended | stopped
 *             agent.ended                  shutdown.ended
 *             running, waiting ──▶ stopping ──▶ ending
 *             child.stop              agent.ended
 *             crashed ──▶ ending
 *             child.fail
 *
 * docs/architecture.md has the complete chart. `recorded` routes a child to the state that its journal shows.
 * A process that dies leaves its children `lost`; a child that is handed to another process is `lost` here.
 * `child.admit` starts a child that is `lost`, `idle`, `ended` or `stopped`. `starting` is `queued` with a free
 * slot: the agent starts in the same tick. `waiting` is an agent without work of its own, which lends its slot.
 * `closed` ends every life with the session.
 *
 * Pure. The effects are slots that actors/swarm/agent-lifecycle.ts fills; they are performed in order after
 * the new state is in place.
 */
import { assign, setup } from 'xstate';
import type { ChildStatus } from '../protocol/agent/agents.js';
import type { Stop } from '../protocol/agent/stop.js';
import type { ChildEffect, ChildEvent } from './child-event.js';
import { stops } from './stops.js';

export interface ChildInput {
  /** Status on record. */
  readonly status: ChildStatus;
  /** True for teammates: the agent stays idle after a run. */
  readonly staysIdle: boolean;
}

interface ChildContext {
  readonly status: ChildStatus;
  readonly staysIdle: boolean;
  /** True once the agent's actor has been started and not disposed. */
  readonly hasAgent: boolean;
  /** Stop that was requested and not carried out yet. */
  readonly stop: Stop | null;
  /** Number of the run that is being reported. */
  readonly run: number;
}

type ParamsOf<Type extends ChildEffect['type']> = Extract<
  ChildEffect,
  { readonly type: Type; readonly params: unknown }
>['params'];

type StopParams = { readonly stop: Stop };

/** An effect that the host of the machine performs. */
const effect = () => () => {};
const effectWith =
  <Params>() =>
  (..._args: [unknown, Params]) => {};

const eventStop = ({ event }: { event: StopParams }): StopParams => ({ stop: event.stop });

/** An idle child has finished its work, so an interruption cuts nothing off. */
const stopNow = ({ context, event }: { context: ChildContext; event: StopParams }): StopParams => ({
  stop: context.status === 'idle' ? stops.whileIdle(event.stop) : event.stop,
});

const requestedStop = ({ context }: { context: ChildContext }): StopParams => ({
  stop: context.stop ?? stops.INTERRUPTED,
});

/** Ends a child that does nothing now. The slot goes first, so that a free slot cannot start the child. */
const finish = <Source>(params: Source) =>
  [
    'stopTimeouts',
    'releaseSlot',
    { type: 'rememberStop', params },
    { type: 'recordEnd', params },
    { type: 'shutDown', params },
    'disposeAgent',
  ] as const;

/** Ends a child whose agent machine has journaled its end. */
const END = [
  'stopTimeouts',
  { type: 'rememberStop', params: eventStop },
  { type: 'shutDown', params: eventStop },
] as const;

/** Ends a child whose agent cannot journal its end. */
const fail = <Source>(params: Source) =>
  [
    'stopTimeouts',
    { type: 'rememberStop', params },
    { type: 'recordEnd', params },
    { type: 'shutDown', params },
  ] as const;

const CRASH = ['stopTimeouts', { type: 'notifyLeader', params: eventStop }] as const;

/** The agent crashed while it had lent its slot, so it will never report `agent.busy`. */
const CRASH_WITHOUT_SLOT = [
  'stopTimeouts',
  'retakeSlot',
  { type: 'notifyLeader', params: eventStop },
] as const;

/** Queues or starts a child that has records, also after an earlier end. */
const ADMIT = [
  {
    guard: { type: 'isQueued', params: ({ event }: { event: { isQueued: boolean } }) => event },
    target: 'queued',
    actions: 'forgetStop',
  },
  { target: 'starting', actions: 'forgetStop' },
] as const;

export const childMachine = setup({
  types: {} as { input: ChildInput; context: ChildContext; events: ChildEvent },
  guards: {
    staysIdle: ({ context }) => context.staysIdle,
    hasAgent: ({ context }) => context.hasAgent,
    isQueued: (_, { isQueued }: { isQueued: boolean }) => isQueued,
    hasPendingChildren: (_, params: { hasPendingChildren: boolean }) => params.hasPendingChildren,
    isSameRun: ({ context }, { run }: { run: number }) => context.run === run,
    isStopped: (_, { stop }: StopParams) => stop.reason === 'stopped',
    wasIdle: ({ context }) => context.status === 'idle',
    wasEnded: ({ context }) => context.status === 'ended',
    wasStopped: ({ context }) => context.status === 'stopped',
  },
  actions: {
    startAgent: effect(),
    resumeAgent: effect(),
    interruptAgent: effectWith<StopParams>(),
    disposeAgent: effect(),
    lendSlot: effect(),
    retakeSlot: effect(),
    requestSlot: effect(),
    releaseSlot: effect(),
    beginWork: effect(),
    stopTimeouts: effect(),
    mergeIdleWorktree: effectWith<ParamsOf<'mergeIdleWorktree'>>(),
    reportIdle: effectWith<StopParams>(),
    notifyLeader: effectWith<StopParams>(),
    scheduleRestart: effectWith<ParamsOf<'scheduleRestart'>>(),
    cancelRestart: effect(),
    rebuild: effectWith<StopParams>(),
    recordEnd: effectWith<StopParams>(),
    shutDown: effectWith<StopParams>(),
    publish: assign({ status: (_, { status }: { status: ChildStatus }) => status }),
    rememberStop: assign({ stop: (_, { stop }: StopParams) => stop }),
    forgetStop: assign({ stop: null }),
    rememberRun: assign({ run: (_, { run }: { run: number }) => run }),
    noteAgent: assign({ hasAgent: true }),
    forgetAgent: assign({ hasAgent: false }),
  },
}).createMachine({
  id: 'child',
  context: ({ input }) => ({ ...input, hasAgent: false, stop: null, run: 0 }),
  initial: 'recorded',
  on: {
    'child.drop': {
      target: '.lost',
      actions: ['forgetStop', 'forgetAgent', { type: 'publish', params: { status: 'queued' } }],
    },
    'swarm.closed': '.closed',
  },
  states: {
    // Routes a life to where its record says that it is.
    recorded: {
      always: [
        { guard: 'wasIdle', target: 'idle' },
        { guard: 'wasEnded', target: 'ended' },
        { guard: 'wasStopped', target: 'stopped' },
        { target: 'lost' },
      ],
    },
    lost: {
      on: {
        'child.admit': ADMIT,
      },
    },
    queued: {
      entry: { type: 'publish', params: { status: 'queued' } },
      on: {
        'slot.granted': [
          { guard: 'hasAgent', target: 'waking', actions: 'resumeAgent' },
          { target: 'running', actions: ['noteAgent', 'startAgent'] },
        ],
        // A person wrote to a woken teammate that waited for a slot.
        'agent.busy': { target: 'running', actions: 'beginWork' },
        'agent.ended': { target: 'ending', actions: END },
        'agent.crashed': { target: 'crashed', actions: CRASH },
        'child.stop': { target: 'ending', actions: finish(stopNow) },
      },
    },
    starting: {
      entry: { type: 'publish', params: { status: 'running' } },
      on: {
        'slot.granted': { target: 'running', actions: ['noteAgent', 'startAgent'] },
        'child.stop': { target: 'ending', actions: finish(stopNow) },
      },
    },
    running: {
      entry: { type: 'publish', params: { status: 'running' } },
      on: {
        'agent.idle': { target: 'waiting', actions: 'lendSlot' },
        'agent.ended': { target: 'ending', actions: END },
        'agent.crashed': { target: 'crashed', actions: CRASH },
        'child.stop': {
          target: 'stopping',
          actions: [
            { type: 'rememberStop', params: eventStop },
            { type: 'interruptAgent', params: eventStop },
          ],
        },
      },
    },
    waiting: {
      on: {
        'agent.busy': [
          { guard: 'staysIdle', target: 'running', actions: ['retakeSlot', 'beginWork'] },
          { target: 'running', actions: 'retakeSlot' },
        ],
        'run.ended': [
          {
            guard: { type: 'hasPendingChildren', params: ({ event }) => event },
            actions: 'stopTimeouts',
          },
          {
            target: 'reporting',
            actions: [
              'stopTimeouts',
              { type: 'rememberRun', params: ({ event }) => event },
              {
                type: 'mergeIdleWorktree',
                params: ({ event: { run, stop } }) => ({ run, stop }),
              },
            ],
          },
        ],
        'agent.ended': { target: 'ending', actions: END },
        'agent.crashed': { target: 'crashed', actions: CRASH_WITHOUT_SLOT },
        'child.stop': [
          { guard: 'staysIdle', target: 'ending', actions: finish(stopNow) },
          {
            target: 'stopping',
            actions: [
              { type: 'rememberStop', params: eventStop },
              { type: 'interruptAgent', params: eventStop },
            ],
          },
        ],
      },
    },
    reporting: {
      entry: { type: 'publish', params: { status: 'idle' } },
      on: {
        // A letter started another run meanwhile; that run reports when it ends.
        'agent.busy': { target: 'running', actions: ['retakeSlot', 'beginWork'] },
        'idle.ready': {
          guard: { type: 'isSameRun', params: ({ event }) => event },
          target: 'idle',
          actions: { type: 'reportIdle', params: eventStop },
        },
        'agent.ended': { target: 'ending', actions: END },
        'agent.crashed': { target: 'crashed', actions: CRASH_WITHOUT_SLOT },
        'child.stop': { target: 'ending', actions: finish(stopNow) },
      },
    },
    idle: {
      entry: { type: 'publish', params: { status: 'idle' } },
      on: {
        'child.admit': ADMIT,
        'letter.held': { target: 'waking', actions: 'requestSlot' },
        // A person wrote to the teammate: it continues at once, over the limit if need be.
        'agent.busy': { target: 'running', actions: ['requestSlot', 'beginWork'] },
        'agent.ended': { target: 'ending', actions: END },
        'agent.crashed': { target: 'crashed', actions: CRASH_WITHOUT_SLOT },
        'child.stop': { target: 'ending', actions: finish(stopNow) },
      },
    },
    waking: {
      on: {
        'slot.awaited': 'queued',
        'slot.granted': { actions: 'resumeAgent' },
        'agent.busy': { target: 'running', actions: 'beginWork' },
        'agent.ended': { target: 'ending', actions: END },
        'agent.crashed': { target: 'crashed', actions: CRASH },
        'child.stop': { target: 'ending', actions: finish(stopNow) },
      },
    },
    stopping: {
      on: {
        'agent.idle': { actions: 'lendSlot' },
        'agent.busy': { actions: 'retakeSlot' },
        'agent.ended': { target: 'ending', actions: END },
        // A teammate would stay idle after its last run.
        'run.ended': { target: 'ending', actions: finish(requestedStop) },
        'agent.crashed': { target: 'ending', actions: fail(requestedStop) },
        'child.stop': {
          actions: [
            { type: 'rememberStop', params: eventStop },
            { type: 'interruptAgent', params: eventStop },
          ],
        },
      },
    },
    crashed: {
      on: {
        'child.restart': {
          target: 'restarting',
          actions: {
            type: 'scheduleRestart',
            params: ({ event: { restart, stop } }) => ({ restart, stop }),
          },
        },
        'child.fail': { target: 'ending', actions: fail(eventStop) },
      },
    },
    restarting: {
      entry: ['forgetAgent', { type: 'publish', params: { status: 'queued' } }],
      on: {
        'restart.due': { target: 'rebuilding', actions: { type: 'rebuild', params: eventStop } },
        'restart.failed': { target: 'ending', actions: fail(eventStop) },
        'child.stop': { target: 'ending', actions: ['cancelRestart', ...finish(stopNow)] },
      },
    },
    rebuilding: {
      on: {
        'child.admit': ADMIT,
        'restart.failed': { target: 'ending', actions: fail(eventStop) },
      },
    },
    ending: {
      on: {
        'shutdown.ended': [
          { guard: { type: 'isStopped', params: ({ event }) => event }, target: 'stopped' },
          { target: 'ended' },
        ],
      },
    },
    ended: {
      entry: ['forgetAgent', { type: 'publish', params: { status: 'ended' } }],
      on: {
        'child.admit': ADMIT,
      },
    },
    stopped: {
      entry: ['forgetAgent', { type: 'publish', params: { status: 'stopped' } }],
      on: {
        'child.admit': ADMIT,
      },
    },
    closed: {},
  },
});
