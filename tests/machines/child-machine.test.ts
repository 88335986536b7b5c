/**
 * Explores the child machine with a model of its environment: an agent that works, waits, ends and crashes,
 * a scheduler, a restart timer, a merge and a shutdown. Every reachable combination is visited once.
 */
import { describe, expect, test } from 'vitest';
import type { ChildEffect, ChildEvent } from '../../src/machines/child-event.js';
import { childMachine } from '../../src/machines/child-machine.js';
import { MachineState } from '../../src/machines/machine-state.js';
import { stops } from '../../src/machines/stops.js';

const STOPPED = { reason: 'stopped', detail: null } as const;

/** State of the host and its agent. Plain values only, so that two states can be compared. */
interface World {
  readonly agent: 'none' | 'busy' | 'idle' | 'over';
  readonly isHeld: boolean;
  readonly slot: 'none' | 'requested' | 'queued' | 'granted' | 'held' | 'lent';
  readonly isTimed: boolean;
  readonly isRestartDue: boolean;
  readonly isRebuilding: boolean;
  readonly merging: number;
  readonly isShuttingDown: boolean;
  readonly runs: number;
  readonly isEndRecorded: boolean;
}

const INITIAL_WORLD: World = {
  agent: 'none',
  isHeld: false,
  slot: 'none',
  isTimed: false,
  isRestartDue: false,
  isRebuilding: false,
  merging: 0,
  isShuttingDown: false,
  runs: 0,
  isEndRecorded: false,
};

interface Node {
  /** Events that lead here from the start. */
  readonly path: readonly ChildEvent[];
  readonly world: World;
}

type Kind = { readonly staysIdle: boolean; readonly status: 'lost' | 'idle' | 'ended' | 'stopped' };

const machineAfter = (kind: Kind, path: readonly ChildEvent[]) => {
  const machine = new MachineState<typeof childMachine, ChildEffect>(childMachine, kind);
  let effects: readonly ChildEffect[] = [];
  for (const event of path) effects = machine.send(event);
  return { machine, effects };
};

/** Events that the world can send now, each with its change of the world. */
const eventsIn = (
  { world }: Node,
  state: string,
  { staysIdle }: Kind,
): readonly (readonly [ChildEvent, Partial<World>])[] => {
  const { agent, slot, merging, runs } = world;
  const found: [ChildEvent, Partial<World>][] = [];
  const add = (event: ChildEvent, change: Partial<World> = {}) => found.push([event, change]);
  const stop = stops.modelError('It broke.');
  const isAbsent = ['lost', 'ended', 'stopped'].includes(state);
  const isAdmitted = isAbsent || world.isRebuilding || (state === 'idle' && agent === 'none');
  if (isAdmitted) {
    const fresh = { isRebuilding: false, isEndRecorded: false };
    add({ type: 'child.admit', isQueued: true }, { ...fresh, slot: 'queued' });
    add({ type: 'child.admit', isQueued: false }, { ...fresh, slot: 'granted' });
  }
  if (slot === 'requested') add({ type: 'slot.awaited' }, { slot: 'queued' });
  const canBeGranted = slot === 'requested' || slot === 'queued' || slot === 'granted';
  if (canBeGranted) add({ type: 'slot.granted' }, { slot: 'held' });
  if (agent === 'busy') {
    const canWait = slot === 'held' && runs < 2;
    if (canWait) add({ type: 'agent.idle' }, { agent: 'idle', runs: runs + 1 });
    if (!staysIdle) add({ type: 'agent.ended', stop: stops.ENDED }, { agent: 'over' });
    add({ type: 'agent.crashed', stop }, { agent: 'over' });
  }
  if (agent === 'idle') {
    if (!world.isHeld || staysIdle) add({ type: 'agent.busy' }, { agent: 'busy', isHeld: false });
    if (world.isHeld) add({ type: 'letter.held' });
    add({ type: 'agent.crashed', stop }, { agent: 'over' });
    // A budget that is used up ends a teammate too.
    add({ type: 'agent.ended', stop: stops.ENDED }, { agent: 'over' });
    const hasEnded = staysIdle && !world.isHeld && merging !== runs;
    for (const hasPendingChildren of hasEnded ? [true, false] : []) {
      add({ type: 'run.ended', stop: stops.ENDED, run: runs, hasPendingChildren });
    }
  }
  if (merging > 0) {
    add({ type: 'idle.ready', run: merging, stop: stops.ENDED }, { merging: 0 });
  }
  if (world.isRestartDue) add({ type: 'restart.due', stop }, { isRestartDue: false });
  if (world.isRestartDue || world.isRebuilding) {
    add({ type: 'restart.failed', stop }, { isRestartDue: false, isRebuilding: false });
  }
  if (world.isShuttingDown) {
    for (const end of [stops.ENDED, STOPPED]) {
      add({ type: 'shutdown.ended', stop: end }, { isShuttingDown: false, slot: 'none' });
    }
  }
  const isRunHere =
    !isAbsent &&
    state !== 'closed' &&
    !world.isRebuilding &&
    (state !== 'idle' || agent !== 'none');
  if (isRunHere && state !== 'crashed') add({ type: 'child.stop', stop: STOPPED });
  if (state === 'crashed') {
    const restart = { attempt: 1, maxAttempts: 3, delayMs: 1_000 };
    add({ type: 'child.restart', restart, stop });
    add({ type: 'child.fail', stop });
  }
  add({ type: 'child.drop' }, INITIAL_WORLD);
  add({ type: 'swarm.closed' }, INITIAL_WORLD);
  return found;
};

/** Applies an effect to the world. Throws if the effect is invalid there. */
const after = (world: World, effect: ChildEffect): World => {
  const must = (isTrue: boolean) => {
    if (!isTrue) throw new Error(`${effect.type} in ${JSON.stringify(world)}`);
  };
  switch (effect.type) {
    case 'startAgent':
      must(world.agent === 'none' && world.slot === 'held');
      return { ...world, agent: 'busy', isTimed: true, runs: 0 };
    case 'resumeAgent':
      must(world.agent !== 'none');
      return world;
    case 'interruptAgent':
      must(world.agent === 'busy' || world.agent === 'idle');
      return world;
    case 'disposeAgent':
      return { ...world, agent: 'none', isHeld: false };
    case 'lendSlot':
      return world.slot === 'held' ? { ...world, slot: 'lent' } : world;
    case 'retakeSlot':
      return world.slot === 'lent' ? { ...world, slot: 'held' } : world;
    case 'requestSlot':
      must(world.slot === 'none');
      return { ...world, slot: 'requested' };
    case 'releaseSlot':
      return { ...world, slot: 'none' };
    case 'beginWork':
      must(world.agent === 'busy');
      return { ...world, isTimed: true };
    case 'stopTimeouts':
      return { ...world, isTimed: false };
    case 'mergeIdleWorktree':
      return { ...world, merging: effect.params.run };
    case 'reportIdle':
      must(world.agent === 'idle' && !world.isTimed);
      return { ...world, isHeld: true, slot: 'none' };
    case 'notifyLeader':
      must(world.agent === 'over');
      return world;
    case 'scheduleRestart':
      return { ...world, agent: 'none', isHeld: false, isRestartDue: true, merging: 0 };
    case 'cancelRestart':
      must(world.isRestartDue);
      return { ...world, isRestartDue: false };
    case 'rebuild':
      return { ...world, isRebuilding: true, slot: 'none' };
    case 'recordEnd':
      must(!world.isEndRecorded);
      return { ...world, isEndRecorded: true };
    case 'shutDown':
      must(!world.isShuttingDown && !world.isTimed);
      return { ...world, isShuttingDown: true, merging: 0 };
  }
};

/** All states that are reachable from the recorded child, with the transitions taken. */
const explore = (kind: Kind) => {
  const seen = new Map<string, Node>();
  const states = new Set<string>();
  const taken = new Set<string>();
  const keyOf = ({ path, world }: Node): string => {
    const { value, context } = machineAfter(kind, path).machine;
    return JSON.stringify([value, context.status, context.hasAgent, context.stop, world]);
  };
  const open: Node[] = [{ path: [], world: INITIAL_WORLD }];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const key = keyOf(node);
    if (seen.has(key)) continue;
    seen.set(key, node);
    const state = String(machineAfter(kind, node.path).machine.value);
    states.add(state);
    if (state === 'closed') continue;
    for (const [event, change] of eventsIn(node, state, kind)) {
      const path = [...node.path, event];
      const { machine, effects } = machineAfter(kind, path);
      let world: World = { ...node.world, ...change };
      for (const effect of effects) world = after(world, effect);
      // The agent of an ended child is gone.
      if (machine.value === 'ended' || machine.value === 'stopped')
        world = { ...world, agent: 'none' };
      taken.add(`${state} ${event.type} ${String(machine.value)}`);
      open.push({ path, world });
    }
  }
  return { nodes: [...seen.values()], states, taken };
};

const KINDS: readonly Kind[] = [
  { staysIdle: false, status: 'lost' },
  { staysIdle: true, status: 'lost' },
  { staysIdle: true, status: 'idle' },
  { staysIdle: false, status: 'ended' },
  { staysIdle: false, status: 'stopped' },
];

describe('the child machine', () => {
  const walks = KINDS.map((kind) => ({ kind, ...explore(kind) }));

  test('reaches every state and takes every transition', () => {
    const states = new Set(walks.flatMap((walk) => [...walk.states]));
    const declared = Object.keys(childMachine.states).filter((state) => state !== 'recorded');
    expect([...states].sort()).toEqual(declared.sort());
    const taken = new Set(walks.flatMap((walk) => [...walk.taken]));
    const missing: string[] = [];
    for (const [state, { transitions }] of Object.entries(childMachine.states)) {
      for (const [event, targets] of transitions) {
        for (const { target } of targets) {
          const to = target?.[0]?.key ?? state;
          if (!taken.has(`${state} ${event} ${to}`)) missing.push(`${state} ${event} ${to}`);
        }
      }
    }
    expect(missing).toEqual([]);
  });

  test('has no slot, timer, restart or shutdown left when it has ended', () => {
    for (const { kind, nodes } of walks) {
      for (const { path, world } of nodes) {
        const { value } = machineAfter(kind, path).machine;
        if (value !== 'ended' && value !== 'stopped') continue;
        const { slot, isTimed, isRestartDue, isRebuilding, isShuttingDown } = world;
        expect({ slot, isTimed, isRestartDue, isRebuilding, isShuttingDown }).toEqual({
          slot: 'none',
          isTimed: false,
          isRestartDue: false,
          isRebuilding: false,
          isShuttingDown: false,
        });
      }
    }
  });

  test('ends after a stop in every state that accepts a stop', () => {
    for (const { kind, nodes } of walks) {
      for (const node of nodes) {
        const { machine } = machineAfter(kind, node.path);
        const state = String(machine.value);
        const canStop = eventsIn(node, state, kind).some(([{ type }]) => type === 'child.stop');
        if (!canStop) continue;
        machine.send({ type: 'child.stop', stop: STOPPED });
        if (machine.value === 'stopping') machine.send({ type: 'agent.ended', stop: STOPPED });
        machine.send({ type: 'shutdown.ended', stop: STOPPED });
        expect([state, machine.value]).toEqual([state, 'stopped']);
      }
    }
  });

  test('ends with the requested stop if the agent crashes while stopping', () => {
    const { machine } = machineAfter({ staysIdle: false, status: 'lost' }, [
      { type: 'child.admit', isQueued: false },
      { type: 'slot.granted' },
      { type: 'child.stop', stop: STOPPED },
    ]);
    const effects = machine.send({ type: 'agent.crashed', stop: stops.modelError('It broke.') });
    const recorded = effects.flatMap((it) => (it.type === 'recordEnd' ? [it.params.stop] : []));
    expect([machine.value, recorded]).toEqual(['ending', [STOPPED]]);
  });

  test('does not count the interruption of an idle teammate as cut-off work', () => {
    const { machine } = machineAfter({ staysIdle: true, status: 'idle' }, []);
    const effects = machine.send({ type: 'child.stop', stop: stops.INTERRUPTED });
    const [recorded] = effects.flatMap((it) => (it.type === 'recordEnd' ? [it.params.stop] : []));
    expect(recorded?.reason).toBe('end_turn');
  });
});
