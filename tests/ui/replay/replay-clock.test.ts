import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReplayClock, type ReplayClockOptions } from '../../../src/ui/replay/replay-clock.js';
import type { ReplayMark } from '../../../src/views/replay/replay-log.js';

const START = 1_000_000;

const tapeOf = (
  times: readonly number[],
  options: ReplayClockOptions = {},
  marks: readonly ReplayMark[] = [],
) => {
  const log = { times: Float64Array.from(times, (time) => START + time), marks };
  return new ReplayClock({ ...log, length: times.length }, options);
};

/** Five events: two at once, two more a second apart each, and a long pause before the last. */
const TIMES = [0, 0, 1_000, 2_000, 602_000];

const played = (tape: ReplayClock, ms: number): number => {
  tape.tick(ms);
  return tape.position;
};

describe('a tape', () => {
  test('plays what happened at the speed at which it happened', () => {
    const tape = tapeOf(TIMES);
    expect(played(tape, 500)).toBe(0);
    tape.toggle();
    expect([played(tape, 0), played(tape, 999), played(tape, 1), played(tape, 1_500)]).toEqual([
      2, 2, 3, 4,
    ]);
    expect(tape.now).toBe(START + 2_000 + 100_000);
  });

  test('plays faster and slower, within bounds', () => {
    const tape = tapeOf(TIMES, { speed: 4 });
    tape.toggle();
    expect(played(tape, 250)).toBe(3);
    tape.slower();
    expect(tape.speed).toBe(2);
    for (let times = 0; times < 20; times += 1) tape.faster();
    expect(tape.speed).toBe(1_000);
    for (let times = 0; times < 20; times += 1) tape.slower();
    expect(tape.speed).toBe(0.25);
    expect(tapeOf(TIMES, { speed: 1e9 }).speed).toBe(1_000);
    expect(tapeOf(TIMES, { speed: 3 }).speed).toBe(3);
  });

  test('cuts long pauses short, and says so while it plays them', () => {
    const tape = tapeOf(TIMES);
    expect(tape.length).toBe(5_000);
    tape.seek(4);
    expect(tape.pause).toEqual({ ms: 600_000, cutTo: 3_000 });
    tape.toggle();
    tape.tick(1_500);
    expect(tape.now).toBe(START + 2_000 + 300_000);
    expect(tapeOf(TIMES).pause).toBeUndefined();
    const real = tapeOf(TIMES, { isRealTime: true });
    real.seek(4);
    expect([real.length, real.pause]).toEqual([602_000, undefined]);
  });

  test('stays at its end, and begins anew when it is played from there', () => {
    const tape = tapeOf(TIMES);
    tape.toggle();
    tape.tick(60_000);
    expect([tape.position, tape.isPlaying, tape.share]).toEqual([5, false, 1]);
    expect(tape.tick(1_000)).toBe(false);
    tape.toggle();
    expect([tape.position, tape.isPlaying]).toEqual([2, true]);
  });

  test('plays backwards down to its first moment', () => {
    const tape = tapeOf(TIMES);
    tape.toEnd();
    tape.reverse();
    tape.toggle();
    expect([played(tape, 1), played(tape, 3_000), played(tape, 2_000)]).toEqual([4, 3, 2]);
    expect([tape.isPlaying, tape.share]).toEqual([false, 0]);
    tape.toggle();
    expect([tape.position, tape.isPlaying]).toEqual([5, true]);
  });

  test('goes as fast as it can', () => {
    const tape = tapeOf(Array.from({ length: 5_000 }, (_, at) => at * 60_000));
    tape.toggleFast();
    expect([played(tape, 1), played(tape, 1), played(tape, 1)]).toEqual([2_000, 4_000, 5_000]);
    expect(tape.isPlaying).toBe(false);
  });

  test('steps from event to event, and rests there', () => {
    const tape = tapeOf(TIMES);
    tape.toggle();
    tape.step(1);
    expect([tape.position, tape.isPlaying]).toEqual([1, false]);
    tape.step(3);
    expect([tape.position, tape.now - START]).toEqual([4, 2_000]);
    tape.step(-9);
    expect([tape.position, tape.now - START]).toEqual([0, 0]);
  });

  test('jumps by the twentieth, and to a time of the log', () => {
    const tape = tapeOf(Array.from({ length: 101 }, (_, at) => at * 1_000));
    tape.jump(1);
    expect([tape.position, tape.share]).toEqual([6, 0.05]);
    tape.jump(-3);
    expect(tape.position).toBe(1);
    tape.jump(100);
    expect(tape.isAtEnd).toBe(true);
    tape.seekTime(START + 50_500);
    expect(tape.position).toBe(51);
    tape.seekTime(0);
    expect(tape.position).toBe(0);
  });

  test('finds what people look for, in both directions', () => {
    const marks = [
      { index: 1, kind: 'question' },
      { index: 3, kind: 'failure' },
    ] as const;
    const tape = tapeOf(TIMES, {}, marks);
    const found = (direction: 1 | -1) => [tape.seekMark(direction), tape.position];
    expect([found(1), found(1), found(1)]).toEqual([
      [true, 2],
      [true, 4],
      [false, 4],
    ]);
    tape.toEnd();
    expect([found(-1), found(-1), found(-1)]).toEqual([
      [true, 4],
      [true, 2],
      [false, 2],
    ]);
  });

  test.each([[[]], [[0]], [[0, 0, 0]]])('has no trouble with the times %j', (times) => {
    const tape = tapeOf(times);
    for (const act of [
      () => tape.toggle(),
      () => tape.tick(1_000),
      () => tape.seekShare(0.5),
      () => tape.jump(-1),
      () => tape.reverse(),
      () => tape.toggle(),
      () => tape.tick(1_000),
      () => tape.step(1),
      () => tape.seekMark(1),
    ]) {
      act();
      expect(tape.position).toBeLessThanOrEqual(times.length);
      for (const figure of [tape.now, tape.share, tape.elapsed, tape.duration]) {
        expect(Number.isFinite(figure)).toBe(true);
      }
    }
  });

  test('never runs ahead of its clock, whatever is done to it', () => {
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
        const tape = tapeOf(times);
        for (const { act, by } of all) {
          if (act === 'tick') tape.tick(by);
          else if (act === 'step') tape.step(by % 5);
          else if (act === 'jump') tape.jump(by % 30);
          else if (act === 'seek') tape.seek(by % 30);
          else if (act === 'toggle') tape.toggle();
          else if (act === 'turn') tape.reverse();
          else if (act === 'fast') tape.toggleFast();
          else tape.toEnd();
          const { position, now, share } = tape;
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
