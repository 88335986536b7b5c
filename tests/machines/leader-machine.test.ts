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
    const it = leader();
    expect(brief(it.send(spawn('a')))).toEqual([['startChild', { id: 'a' }]]);
    expect(brief(it.send(spawn('b')))).toEqual([['queueChild', { id: 'b' }]]);
    expect(brief(it.send({ type: 'slot.released' }))).toEqual([['startNextChild']]);
    expect(brief(it.send({ type: 'slot.released' }))).toEqual([]);
    expect(it.context.counts).toEqual({ spawned: 2, live: 0, queued: 0 });
  });

  test('passes no slot on while more agents run than there are slots', () => {
    const it = leader();
    it.send(spawn('a'));
    it.send({ type: 'slot.released' });
    it.send(spawn('b'));
    it.send({ type: 'slot.retaken' });
    it.send(spawn('c'));
    expect(it.context.counts).toEqual({ spawned: 3, live: 2, queued: 1 });
    expect(brief(it.send({ type: 'slot.released' }))).toEqual([]);
    expect(brief(it.send({ type: 'slot.released' }))).toEqual([['startNextChild']]);
  });

  test('restarts a background agent that crashed, until the policy is used up', () => {
    const it = leader();
    expect(brief(it.send(crash('background', [])))).toEqual([
      [
        'restartChild',
        {
          id: 'a',
          restart: { attempt: 1, maxAttempts: 3, delayMs: 1_000 },
          stop: stops.modelError('It broke.'),
        },
      ],
    ]);
    const often = it.send(crash('background', [997, 998, 999]));
    const detail = 'It broke. It was restarted 3 times; its work is kept.';
    expect(brief(often)).toEqual([['failChild', { id: 'a', stop: stops.modelError(detail) }]]);
  });

  test('restarts no child that its parent waits for', () => {
    const stop = stops.modelError('It broke.');
    expect(brief(leader().send(crash('sync', [])))).toEqual([['failChild', { id: 'a', stop }]]);
  });

  test('stops what works for an agent that a person stopped for the same reason', () => {
    const stopped: Stop = { reason: 'stopped', detail: 'A person stopped it.' };
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

  test('counts the spawns of a run from zero, or from what a dead process had spawned', () => {
    const it = leader(20);
    it.send({ type: 'run.resume', spawned: 10 });
    expect(brief(it.send(spawn('a')))).toEqual([['refuseChild', { id: 'a', why: 'total' }]]);
    it.send({ type: 'run.begin' });
    expect(brief(it.send(spawn('a')))).toEqual([['startChild', { id: 'a' }]]);
  });

  test('refuses and decides nothing more after the swarm has closed', () => {
    const it = leader();
    it.send({ type: 'swarm.close' });
    expect(brief(it.send(spawn('a')))).toEqual([['refuseChild', { id: 'a', why: 'over' }]]);
    expect(it.send(crash('background', []))).toEqual([]);
    expect(it.send({ type: 'slot.released' })).toEqual([]);
  });
});
