import { describe, expect, test } from 'vitest';
import { type LeaderEffect, leaderMachine } from '../../src/machines/leader-machine.js';
import { MachineState } from '../../src/machines/machine-state.js';
import { stops } from '../../src/machines/stops.js';
import type { Stop } from '../../src/protocol/agent/stop.js';

const leader = (maxConcurrentAgents = 1) =>
  new MachineState<typeof leaderMachine, LeaderEffect>(leaderMachine, {
    maxAgents: 10,
    maxConcurrentAgents,
    maxDepth: 3,
  });

const spawn = (id: string) =>
  ({ type: 'child.spawn', id, depth: 1, isNew: true, borrowsSlot: false }) as const;

const brief = (effects: readonly LeaderEffect[]) =>
  effects.map((effect) =>
    'params' in effect && effect.params !== undefined
      ? [effect.type, effect.params]
      : [effect.type],
  );

const crash = (kind: 'sync' | 'background', crashes: readonly number[]) =>
  ({
    type: 'child.crashed',
    id: 'a',
    kind,
    crashes,
    now: 1_000,
    stop: stops.modelError('It broke.'),
  }) as const;

describe('the leader', () => {
  test('starts children while slots are free, queues the rest, and starts the next on release', () => {
    const machine = leader();
    expect(brief(machine.send(spawn('a')))).toEqual([['startChild', { id: 'a' }]]);
    expect(brief(machine.send(spawn('b')))).toEqual([['queueChild', { id: 'b' }]]);
    expect(brief(machine.send({ type: 'slot.released' }))).toEqual([['startNextChild']]);
    expect(brief(machine.send({ type: 'slot.released' }))).toEqual([]);
    expect(machine.context.counts).toEqual({ spawned: 2, live: 0, queued: 0 });
  });

  test('does not start a queued child while more agents run than slots exist', () => {
    const machine = leader();
    machine.send(spawn('a'));
    machine.send({ type: 'slot.released' });
    machine.send(spawn('b'));
    machine.send({ type: 'slot.retaken' });
    machine.send(spawn('c'));
    expect(machine.context.counts).toEqual({ spawned: 3, live: 2, queued: 1 });
    expect(brief(machine.send({ type: 'slot.released' }))).toEqual([]);
    expect(brief(machine.send({ type: 'slot.released' }))).toEqual([['startNextChild']]);
  });

  test('restarts a crashed background agent up to three times', () => {
    const machine = leader();
    expect(brief(machine.send(crash('background', [])))).toEqual([
      [
        'restartChild',
        {
          id: 'a',
          restart: { attempt: 1, maxAttempts: 3, delayMs: 1_000 },
          stop: stops.modelError('It broke.'),
        },
      ],
    ]);
    const often = machine.send(crash('background', [997, 998, 999]));
    const detail = 'It broke. It was restarted 3 times; its work is kept.';
    expect(brief(often)).toEqual([['failChild', { id: 'a', stop: stops.modelError(detail) }]]);
  });

  test('does not restart a synchronous child', () => {
    const stop = stops.modelError('It broke.');
    expect(brief(leader().send(crash('sync', [])))).toEqual([['failChild', { id: 'a', stop }]]);
  });

  test('gives a subtree the stop reason of a person, otherwise the reason that its parent stopped', () => {
    const stopped: Stop = { reason: 'stopped', detail: 'The user stopped it.' };
    const stop = (given: Stop, isParentStopped: boolean) =>
      leader().send({ type: 'child.stop', id: 'a', stop: given, isParentStopped });
    expect(brief(stop(stops.INTERRUPTED, false))).toEqual([
      ['stopSubtree', { id: 'a', stop: stops.INTERRUPTED }],
    ]);
    expect(brief(stop(stops.INTERRUPTED, true))).toEqual([
      ['stopSubtree', { id: 'a', stop: stops.PARENT_STOPPED }],
    ]);
    expect(brief(stop(stopped, true))).toEqual([['stopSubtree', { id: 'a', stop: stopped }]]);
  });

  test('counts spawns from zero in a new run and from the recorded number in a resumed run', () => {
    const machine = leader(20);
    machine.send({ type: 'run.resume', spawned: 10 });
    expect(brief(machine.send(spawn('a')))).toEqual([['refuseChild', { id: 'a', why: 'total' }]]);
    machine.send({ type: 'run.begin' });
    expect(brief(machine.send(spawn('a')))).toEqual([['startChild', { id: 'a' }]]);
  });

  test('refuses spawns and ignores other events after the swarm has closed', () => {
    const machine = leader();
    machine.send({ type: 'swarm.close' });
    expect(brief(machine.send(spawn('a')))).toEqual([['refuseChild', { id: 'a', why: 'over' }]]);
    expect(machine.send(crash('background', []))).toEqual([]);
    expect(machine.send({ type: 'slot.released' })).toEqual([]);
  });
});
