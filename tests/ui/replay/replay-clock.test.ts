import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReplayClock, type ReplayClockOptions } from '../../../src/ui/replay/replay-clock.js';
import type { ReplayMark } from '../../../src/views/replay/replay-log.js';

const START = 1_000_000;

const clockOf = (
  times: readonly number[],
  options: ReplayClockOptions = {},
  marks: readonly ReplayMark[] = [],
) => {
  const log = { times: Float64Array.from(times, (time) => START + time), marks };
  return new ReplayClock({ ...log, length: times.length }, options);
};

/** Five events: two at the same time, two at intervals of a second, the last after a long pause. */
const TIMES = [0, 0, 1_000, 2_000, 602_000];

const played = (clock: ReplayClock, ms: number): number => {
  clock.tick(ms);
  return clock.position;
};

describe('the replay clock', () => {
  test('plays events at their original speed', () => {
    const clock = clockOf(TIMES);
    expect(played(clock, 500)).toBe(0);
    clock.toggle();
    expect([played(clock, 0), played(clock, 999), played(clock, 1), played(clock, 1_500)]).toEqual([
      2, 2, 3, 4,
    ]);
    expect(clock.now).toBe(START + 2_000 + 100_000);
  });

  test('plays faster and slower, from 0.25 to 1,000 times', () => {
    const clock = clockOf(TIMES, { speed: 4 });
    clock.toggle();
    expect(played(clock, 250)).toBe(3);
    clock.slower();
    expect(clock.speed).toBe(2);
    for (let times = 0; times < 20; times += 1) clock.faster();
    expect(clock.speed).toBe(1_000);
    for (let times = 0; times < 20; times += 1) clock.slower();
    expect(clock.speed).toBe(0.25);
    expect(clockOf(TIMES, { speed: 1e9 }).speed).toBe(1_000);
    expect(clockOf(TIMES, { speed: 3 }).speed).toBe(3);
  });

  test('shortens long pauses and reports the pause that it plays', () => {
    const clock = clockOf(TIMES);
    expect(clock.length).toBe(5_000);
    clock.seek(4);
    expect(clock.pause).toEqual({ ms: 600_000, cutTo: 3_000 });
    clock.toggle();
    clock.tick(1_500);
    expect(clock.now).toBe(START + 2_000 + 300_000);
    expect(clockOf(TIMES).pause).toBeUndefined();
    const real = clockOf(TIMES, { isRealTime: true });
    real.seek(4);
    expect([real.length, real.pause]).toEqual([602_000, undefined]);
  });

  test('stops at the end, and restarts from the beginning at the next toggle', () => {
    const clock = clockOf(TIMES);
    clock.toggle();
    clock.tick(60_000);
    expect([clock.position, clock.isPlaying, clock.share]).toEqual([5, false, 1]);
    expect(clock.tick(1_000)).toBe(false);
    clock.toggle();
    expect([clock.position, clock.isPlaying]).toEqual([2, true]);
  });

  test('plays backwards to the start', () => {
    const clock = clockOf(TIMES);
    clock.toEnd();
    clock.reverse();
    clock.toggle();
    expect([played(clock, 1), played(clock, 3_000), played(clock, 2_000)]).toEqual([4, 3, 2]);
    expect([clock.isPlaying, clock.share]).toEqual([false, 0]);
    clock.toggle();
    expect([clock.position, clock.isPlaying]).toEqual([5, true]);
  });

  test('plays 2,000 events per tick in fast mode', () => {
    const clock = clockOf(Array.from({ length: 5_000 }, (_, at) => at * 60_000));
    clock.toggleFast();
    expect([played(clock, 1), played(clock, 1), played(clock, 1)]).toEqual([2_000, 4_000, 5_000]);
    expect(clock.isPlaying).toBe(false);
  });

  test('steps from event to event and pauses', () => {
    const clock = clockOf(TIMES);
    clock.toggle();
    clock.step(1);
    expect([clock.position, clock.isPlaying]).toEqual([1, false]);
    clock.step(3);
    expect([clock.position, clock.now - START]).toEqual([4, 2_000]);
    clock.step(-9);
    expect([clock.position, clock.now - START]).toEqual([0, 0]);
  });

  test('jumps by a twentieth of its length and to a time of the log', () => {
    const clock = clockOf(Array.from({ length: 101 }, (_, at) => at * 1_000));
    clock.jump(1);
    expect([clock.position, clock.share]).toEqual([6, 0.05]);
    clock.jump(-3);
    expect(clock.position).toBe(1);
    clock.jump(100);
    expect(clock.isAtEnd).toBe(true);
    clock.seekTime(START + 50_500);
    expect(clock.position).toBe(51);
    clock.seekTime(0);
    expect(clock.position).toBe(0);
  });

  test('finds marks in both directions', () => {
    const marks = [
      { index: 1, kind: 'question' },
      { index: 3, kind: 'failure' },
    ] as const;
    const clock = clockOf(TIMES, {}, marks);
    const found = (direction: 1 | -1) => [clock.seekMark(direction), clock.position];
    expect([found(1), found(1), found(1)]).toEqual([
      [true, 2],
      [true, 4],
      [false, 4],
    ]);
    clock.toEnd();
    expect([found(-1), found(-1), found(-1)]).toEqual([
      [true, 4],
      [true, 2],
      [false, 2],
    ]);
  });

  test.each([[[]], [[0]], [[0, 0, 0]]])('has finite figures for the times %j', (times) => {
    const clock = clockOf(times);
    for (const act of [
      () => clock.toggle(),
      () => clock.tick(1_000),
      () => clock.seekShare(0.5),
      () => clock.jump(-1),
      () => clock.reverse(),
      () => clock.toggle(),
      () => clock.tick(1_000),
      () => clock.step(1),
      () => clock.seekMark(1),
    ]) {
      act();
      expect(clock.position).toBeLessThanOrEqual(times.length);
      for (const figure of [clock.now, clock.share, clock.elapsed, clock.duration]) {
        expect(Number.isFinite(figure)).toBe(true);
      }
    }
  });

  test('keeps its position and its time consistent for any operations', () => {
    const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat(900_000)), { maxLength: 20 });
    const acts = fc.array(
      fc.oneof(
        fc.record({ act: fc.constant('tick' as const), by: fc.nat(20_000) }),
        fc.record({ act: fc.constantFrom('step', 'jump', 'seek'), by: fc.integer() }),
        fc.record({ act: fc.constantFrom('toggle', 'turn', 'fast', 'end'), by: fc.nat() }),
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(gaps, acts, (pauses, all) => {
        let time = 0;
        const times = pauses.map((pause) => {
          time += pause;
          return time;
        });
        const clock = clockOf(times);
        for (const { act, by } of all) {
          if (act === 'tick') clock.tick(by);
          else if (act === 'step') clock.step(by % 5);
          else if (act === 'jump') clock.jump(by % 30);
          else if (act === 'seek') clock.seek(by % 30);
          else if (act === 'toggle') clock.toggle();
          else if (act === 'turn') clock.reverse();
          else if (act === 'fast') clock.toggleFast();
          else clock.toEnd();
          const { position, now, share } = clock;
          const last = START + (times[position - 1] ?? times[0] ?? 0);
          const next = START + (times[position] ?? times.at(-1) ?? 0);
          expect(times.length === 0 || now >= last).toBe(true);
          expect(position === 0 || now <= next).toBe(true);
          expect(share).toBeGreaterThanOrEqual(0);
          expect(share).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 200 },
    );
  });
});
