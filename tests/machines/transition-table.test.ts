/** Compares `TransitionTable` with XState on the same machines. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  createMachine,
  initialTransition,
  raise,
  transition,
} from 'xstate';
import { childMachine } from '../../src/machines/child-machine.js';
import { leaderMachine } from '../../src/machines/leader-machine.js';
import { stops } from '../../src/machines/stops.js';
import { type TableEffect, TransitionTable } from '../../src/machines/transition-table.js';

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** All events of the machine and an unknown event, each with the fields of all events. */
const eventsOf = (machine: AnyStateMachine): fc.Arbitrary<Event> =>
  fc.record({
    type: fc.constantFrom(...machine.events.map(String), 'unknown'),
    id: fc.constantFrom('a', 'b'),
    kind: fc.constantFrom('background', 'sync', 'teammate'),
    stop: fc.constantFrom(stops.INTERRUPTED, stops.PARENT_STOPPED, stops.modelError('It broke.')),
    isQueued: fc.boolean(),
    hasPendingChildren: fc.boolean(),
    isParentStopped: fc.boolean(),
    isNew: fc.boolean(),
    borrowsSlot: fc.boolean(),
    depth: fc.integer({ min: 1, max: 4 }),
    run: fc.nat(2),
    spawned: fc.nat(3),
    restart: fc.constant({ attempt: 1, maxAttempts: 5, delayMs: 1 }),
    crashes: fc.constantFrom([], [1], [1, 2, 3, 4, 5, 6]),
    now: fc.constant(10),
  });

const byXState = (machine: AnyStateMachine, input: unknown, events: readonly Event[]) => {
  let snapshot = initialTransition(machine, input)[0] as AnyMachineSnapshot;
  return events.map((event) => {
    const [next, actions] = transition(machine, snapshot, event);
    snapshot = next as AnyMachineSnapshot;
    const effects = actions.map(({ type, params }) => ({ type, params: params as unknown }));
    return { value: snapshot.value, context: snapshot.context as unknown, effects };
  });
};

const byTable = (machine: AnyStateMachine, input: unknown, events: readonly Event[]) => {
  const table = new TransitionTable(machine);
  let state = table.initial(input, []);
  return events.map((event) => {
    const effects: TableEffect[] = [];
    state = table.next(state, event, effects);
    return { ...state, effects };
  });
};

const expectSame = (machine: AnyStateMachine, inputs: fc.Arbitrary<unknown>): void => {
  const events = fc.array(eventsOf(machine), { minLength: 1, maxLength: 25 });
  fc.assert(
    fc.property(inputs, events, (input, sent) => {
      expect(byTable(machine, input, sent)).toEqual(byXState(machine, input, sent));
    }),
    { numRuns: 500 },
  );
};

describe('a transition table', () => {
  test('runs the child machine as XState does, with the same effects', () => {
    expectSame(
      childMachine,
      fc.record({
        status: fc.constantFrom('queued', 'running', 'idle', 'ended', 'stopped'),
        staysIdle: fc.boolean(),
      }),
    );
  });

  test('runs the leader machine as XState does, with the same effects', () => {
    expectSame(
      leaderMachine,
      fc.record({ maxAgents: fc.nat(4), maxConcurrentAgents: fc.nat(2), maxDepth: fc.nat(3) }),
    );
  });

  test('exits and re-enters a state exactly when XState does', () => {
    const machine = createMachine({
      context: { entries: 0, exits: 0 },
      initial: 'here',
      on: { 'from.above': '.here' },
      states: {
        here: {
          entry: assign({ entries: ({ context }) => context.entries + 1 }),
          exit: assign({ exits: ({ context }) => context.exits + 1 }),
          on: { 'to.itself': 'here', again: { target: 'here', reenter: true }, stay: {} },
        },
      },
    });
    expectSame(machine, fc.constant(undefined));
  });

  test.each([
    ['states inside a state', { initial: 'a', states: { a: { initial: 'b', states: { b: {} } } } }],
    ['delays', { initial: 'a', states: { a: { after: { 1: 'a' } } } }],
    ['actors', { initial: 'a', states: { a: { invoke: { src: 'b' } } } }],
    ['wildcards', { initial: 'a', states: { a: { on: { '*': 'a' } } } }],
    ['unnamed guards', { initial: 'a', states: { a: { on: { e: { guard: () => true } } } } }],
    [
      'guards without an implementation',
      { initial: 'a', states: { a: { on: { e: { guard: 'missing' } } } } },
    ],
    ['entry actions of the machine', { entry: 'start', initial: 'a', states: { a: {} } }],
    ['exit actions of the machine', { exit: 'end', initial: 'a', states: { a: {} } }],
    ['raised events', { initial: 'a', states: { a: { entry: raise({ type: 'e' }) } } }],
  ] as const)('refuses a machine with %s', (_, config) => {
    expect(() => new TransitionTable(createMachine(config as never))).toThrow(/cannot run|has no/);
  });
});
