/**
 * Replay clock: position, speed and direction of a replay. Long pauses of the log are cut short.
 *
 * The clock has no timer: the caller reports elapsed time with `tick`.
 */
import type { ReplayLog, ReplayMark } from '../../views/replay/replay-log.js';

/** Longer pauses of the log are cut to this length. */
const MAX_PAUSE_MS = 3_000;

export const MIN_SPEED = 0.25;
export const MAX_SPEED = 1_000;
const SPEEDS = [MIN_SPEED, 0.5, 1, 2, 4, 8, 16, 32, 64, 125, 250, 500, MAX_SPEED];
/** Events per frame at the fastest speed. */
const EVENTS_PER_FRAME = 2_000;
/** Share of the replay that one jump skips. */
const JUMP_SHARE = 0.05;

export interface ReplayClockOptions {
  /** Multiple of real time. Default: 1. */
  readonly speed?: number;
  /** Keeps pauses at their real length. Default: false. */
  readonly isRealTime?: boolean;
}

interface CutPause {
  /** Length in the log, in milliseconds. */
  readonly ms: number;
  /** Length in the replay, in milliseconds. */
  readonly cutTo: number;
}

type Times = Pick<ReplayLog, 'times' | 'marks' | 'length'>;

export class ReplayClock {
  readonly log: Times;
  /** Replay time of each event, in milliseconds from the start. */
  private readonly offsets: Float64Array;
  private offset = 0;
  /** Number of events played. */
  private played = 0;
  private rate: number;
  isPlaying = false;
  isBackwards = false;
  /** Plays `EVENTS_PER_FRAME` events per frame instead of by time. */
  isFast = false;

  constructor(log: Times, { speed = 1, isRealTime = false }: ReplayClockOptions = {}) {
    this.log = log;
    this.rate = Math.min(MAX_SPEED, Math.max(MIN_SPEED, speed));
    this.offsets = new Float64Array(log.length);
    for (let index = 1; index < log.length; index += 1) {
      const pause = this.gapBefore(index);
      const kept = isRealTime ? pause : Math.min(pause, MAX_PAUSE_MS);
      this.offsets[index] = this.offsetOf(index - 1) + kept;
    }
  }

  get position(): number {
    return this.played;
  }

  get speed(): number {
    return this.rate;
  }

  get length(): number {
    return this.log.length === 0 ? 0 : this.offsetOf(this.log.length - 1);
  }

  /** Played share, from 0 to 1. In a log without duration it is the share of events. */
  get share(): number {
    if (this.length > 0) return this.offset / this.length;
    return this.log.length === 0 ? 1 : this.played / this.log.length;
  }

  /** Returns the position of a mark, from 0 to 1. */
  shareOf({ index }: ReplayMark): number {
    if (this.length > 0) return this.offsetOf(index) / this.length;
    return (index + 1) / Math.max(1, this.log.length);
  }

  get isAtEnd(): boolean {
    return this.played === this.log.length;
  }

  /** True if at most the events of the first moment have been played. */
  get isAtStart(): boolean {
    return this.played <= this.start;
  }

  /** Time of the log, in milliseconds since 1970. It runs faster within a cut pause. */
  get now(): number {
    if (this.log.length === 0) return 0;
    const before = Math.max(0, this.played - 1);
    const time = this.log.times[before] ?? 0;
    const into = this.offset - this.offsetOf(before);
    const length = this.offsetOf(this.played) - this.offsetOf(before);
    if (this.isAtEnd || this.played === 0 || into <= 0 || length <= 0) return time;
    return time + (into / length) * this.gapBefore(this.played);
  }

  /** Milliseconds of the log up to the current position. */
  get elapsed(): number {
    return this.now - (this.log.times[0] ?? 0);
  }

  get duration(): number {
    return (this.log.times.at(-1) ?? 0) - (this.log.times[0] ?? 0);
  }

  /** Current pause if it is cut short, else undefined. */
  get pause(): CutPause | undefined {
    if (this.played === 0 || this.isAtEnd) return undefined;
    const ms = this.gapBefore(this.played);
    const cutTo = this.offsetOf(this.played) - this.offsetOf(this.played - 1);
    return cutTo < ms ? { ms, cutTo } : undefined;
  }

  /** Plays or pauses. At the end of its direction it starts over. */
  toggle(): void {
    this.isPlaying = !this.isPlaying;
    if (!this.isPlaying) return;
    if (this.isBackwards && this.isAtStart) this.toEnd();
    else if (!this.isBackwards && this.isAtEnd) this.seekShare(0);
  }

  reverse(): void {
    this.isBackwards = !this.isBackwards;
  }

  faster(): void {
    this.rate = SPEEDS.find((speed) => speed > this.rate) ?? MAX_SPEED;
    this.isFast = false;
  }

  slower(): void {
    this.rate = SPEEDS.findLast((speed) => speed < this.rate) ?? MIN_SPEED;
    this.isFast = false;
  }

  toggleFast(): void {
    this.isFast = !this.isFast;
    if (this.isFast && !this.isPlaying) this.toggle();
  }

  /** Advances by `ms` of real time. Returns false if the replay is paused. */
  tick(ms: number): boolean {
    if (!this.isPlaying) return false;
    if (this.isFast && this.isBackwards) {
      this.seek(Math.max(this.start, this.played - EVENTS_PER_FRAME));
    } else if (this.isFast) this.seek(this.played + EVENTS_PER_FRAME);
    else if (this.isBackwards) this.rewind(this.offset - ms * this.rate);
    else this.play(this.offset + ms * this.rate);
    if (this.isBackwards ? this.isAtStart : this.isAtEnd) this.isPlaying = false;
    return true;
  }

  step(events: number): void {
    this.isPlaying = false;
    this.seek(this.played + events);
  }

  /** Moves to the start and pauses, in either direction. */
  stopAtStart(): void {
    this.isPlaying = false;
    this.seekShare(0);
  }

  /** Moves to the end and pauses, in either direction. */
  stopAtEnd(): void {
    this.isPlaying = false;
    this.toEnd();
  }

  jump(steps: number): void {
    this.seekShare(this.share + steps * JUMP_SHARE);
  }

  /** Moves to a share of the replay, from 0 to 1. */
  seekShare(share: number): void {
    const target = Math.min(1, Math.max(0, share));
    if (this.length === 0) this.seek(Math.round(target * this.log.length));
    else if (target === 1) this.toEnd();
    else {
      [this.played, this.offset] = [0, 0];
      this.play(target * this.length);
    }
  }

  /** Moves to the last event that is not after this time of the log. */
  seekTime(time: number): void {
    const { times } = this.log;
    this.seek(firstAbove(times, time));
  }

  seek(position: number): void {
    this.played = Math.min(this.log.length, Math.max(0, Math.floor(position)));
    this.offset = this.played === 0 ? 0 : this.offsetOf(this.played - 1);
  }

  toEnd(): void {
    this.seek(this.log.length);
  }

  /** Moves behind the next or previous mark. Returns false if there is none. */
  seekMark(direction: 1 | -1): boolean {
    const { marks } = this.log;
    const mark =
      direction === 1
        ? marks.find(({ index }) => index >= this.played)
        : marks.findLast(({ index }) => index + 1 < this.played);
    if (mark !== undefined) this.seek(mark.index + 1);
    return mark !== undefined;
  }

  private play(at: number): void {
    this.offset = Math.min(at, this.length);
    // Events of the same moment are played together.
    const from = Math.max(this.played, firstAbove(this.offsets, this.offset));
    this.played = Math.min(this.log.length, from);
  }

  private rewind(at: number): void {
    this.offset = Math.max(0, at);
    this.played = Math.min(this.played, firstAbove(this.offsets, this.offset));
  }

  private get start(): number {
    return this.length > 0 ? firstAbove(this.offsets, 0) : 0;
  }

  private offsetOf(index: number): number {
    return this.offsets[index] ?? this.length;
  }

  private gapBefore(index: number): number {
    return Math.max(0, (this.log.times[index] ?? 0) - (this.log.times[index - 1] ?? 0));
  }
}

/** Returns the index of the first number above `limit` in ascending `numbers`. */
const firstAbove = (numbers: Float64Array, limit: number): number => {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
};
