/**
 * Where a log is played, and how fast: positions between its events, on a tape on which long pauses are cut
 * short. It has no clock of its own: whoever has one says how much time has passed.
 */
import type { Mark, ReplayLog } from '../../views/replay/replay-log.js';

/** Longer pauses of a log are cut to this much. */
export const LONGEST_PAUSE_MS = 3_000;

export const SLOWEST = 0.25;
export const FASTEST = 1_000;
const SPEEDS = [SLOWEST, 0.5, 1, 2, 4, 8, 16, 32, 64, 125, 250, 500, FASTEST];
/** As fast as possible: so many events in a frame. */
const EVENTS_A_FRAME = 2_000;
const JUMP = 0.05;

export interface TapeOptions {
  /** Times of real time. */
  readonly speed?: number;
  /** Pauses are as long as they were. */
  readonly isRealTime?: boolean;
}

export interface Pause {
  /** How long it was, in milliseconds, and what it is cut to. */
  readonly ms: number;
  readonly cutTo: number;
}

type Times = Pick<ReplayLog, 'times' | 'marks' | 'length'>;

export class ReplayClock {
  readonly log: Times;
  /** Where each event stands, in milliseconds from the beginning. */
  private readonly places: Float64Array;
  private at = 0;
  /** How many events have happened. */
  private happened = 0;
  private rate: number;
  isPlaying = false;
  /** It runs towards its beginning. */
  isBackwards = false;
  /** As fast as possible. */
  isFast = false;

  constructor(log: Times, { speed = 1, isRealTime = false }: TapeOptions = {}) {
    this.log = log;
    this.rate = Math.min(FASTEST, Math.max(SLOWEST, speed));
    this.places = new Float64Array(log.length);
    for (let index = 1; index < log.length; index += 1) {
      const pause = this.gapBefore(index);
      const kept = isRealTime ? pause : Math.min(pause, LONGEST_PAUSE_MS);
      this.places[index] = this.placeOf(index - 1) + kept;
    }
  }

  get position(): number {
    return this.happened;
  }

  get speed(): number {
    return this.rate;
  }

  get length(): number {
    return this.log.length === 0 ? 0 : this.placeOf(this.log.length - 1);
  }

  /** How much of the tape has been played, from 0 to 1. Of a tape without time the events count. */
  get share(): number {
    if (this.length > 0) return this.at / this.length;
    return this.log.length === 0 ? 1 : this.happened / this.log.length;
  }

  /** Where a mark stands on it, from 0 to 1. */
  shareOf({ index }: Mark): number {
    if (this.length > 0) return this.placeOf(index) / this.length;
    return (index + 1) / Math.max(1, this.log.length);
  }

  get isAtEnd(): boolean {
    return this.happened === this.log.length;
  }

  /** What happened in the first moment has happened, or less. */
  get isAtStart(): boolean {
    return this.happened <= this.start;
  }

  /** By the clock of the log, in milliseconds since 1970. In a pause that is cut it goes faster. */
  get now(): number {
    if (this.log.length === 0) return 0;
    const before = Math.max(0, this.happened - 1);
    const time = this.log.times[before] ?? 0;
    const into = this.at - this.placeOf(before);
    const length = this.placeOf(this.happened) - this.placeOf(before);
    if (this.isAtEnd || this.happened === 0 || into <= 0 || length <= 0) return time;
    return time + (into / length) * this.gapBefore(this.happened);
  }

  /** Milliseconds of the log up to now. */
  get elapsed(): number {
    return this.now - (this.log.times[0] ?? 0);
  }

  get duration(): number {
    return (this.log.times.at(-1) ?? 0) - (this.log.times[0] ?? 0);
  }

  /** The pause that is being played, where it is cut short. */
  get pause(): Pause | undefined {
    if (this.happened === 0 || this.isAtEnd) return undefined;
    const ms = this.gapBefore(this.happened);
    const cutTo = this.placeOf(this.happened) - this.placeOf(this.happened - 1);
    return cutTo < ms ? { ms, cutTo } : undefined;
  }

  /** From its end it begins anew, and backwards from its beginning. */
  toggle(): void {
    this.isPlaying = !this.isPlaying;
    if (!this.isPlaying) return;
    if (this.isBackwards && this.isAtStart) this.toEnd();
    else if (!this.isBackwards && this.isAtEnd) this.seekShare(0);
  }

  turnRound(): void {
    this.isBackwards = !this.isBackwards;
  }

  faster(): void {
    this.rate = SPEEDS.find((speed) => speed > this.rate) ?? FASTEST;
    this.isFast = false;
  }

  slower(): void {
    this.rate = SPEEDS.findLast((speed) => speed < this.rate) ?? SLOWEST;
    this.isFast = false;
  }

  toggleFast(): void {
    this.isFast = !this.isFast;
    if (this.isFast && !this.isPlaying) this.toggle();
  }

  /** So much real time has passed. Whether anything is different now. */
  tick(ms: number): boolean {
    if (!this.isPlaying) return false;
    if (this.isFast && this.isBackwards) {
      this.seek(Math.max(this.start, this.happened - EVENTS_A_FRAME));
    } else if (this.isFast) this.seek(this.happened + EVENTS_A_FRAME);
    else if (this.isBackwards) this.rewind(this.at - ms * this.rate);
    else this.play(this.at + ms * this.rate);
    if (this.isBackwards ? this.isAtStart : this.isAtEnd) this.isPlaying = false;
    return true;
  }

  step(events: number): void {
    this.isPlaying = false;
    this.seek(this.happened + events);
  }

  /** Whoever wants to see the beginning or the end wants to stay there, whichever way it runs. */
  restAtStart(): void {
    this.isPlaying = false;
    this.seekShare(0);
  }

  restAtEnd(): void {
    this.isPlaying = false;
    this.toEnd();
  }

  jump(steps: number): void {
    this.seekShare(this.share + steps * JUMP);
  }

  /** To where so much of it has been played. */
  seekShare(share: number): void {
    const wanted = Math.min(1, Math.max(0, share));
    if (this.length === 0) this.seek(Math.round(wanted * this.log.length));
    else if (wanted === 1) this.toEnd();
    else {
      [this.happened, this.at] = [0, 0];
      this.play(wanted * this.length);
    }
  }

  /** To the last moment that is not after this time of the log. */
  seekTime(time: number): void {
    const { times } = this.log;
    this.seek(firstAbove(times, time));
  }

  seek(position: number): void {
    this.happened = Math.min(this.log.length, Math.max(0, Math.floor(position)));
    this.at = this.happened === 0 ? 0 : this.placeOf(this.happened - 1);
  }

  toEnd(): void {
    this.seek(this.log.length);
  }

  /** To when the next, or the one before, of what people look for has just happened. */
  seekMark(direction: 1 | -1): boolean {
    const { marks } = this.log;
    const mark =
      direction === 1
        ? marks.find(({ index }) => index >= this.happened)
        : marks.findLast(({ index }) => index + 1 < this.happened);
    if (mark !== undefined) this.seek(mark.index + 1);
    return mark !== undefined;
  }

  private play(at: number): void {
    this.at = Math.min(at, this.length);
    // Those of one moment happen together.
    const from = Math.max(this.happened, firstAbove(this.places, this.at));
    this.happened = Math.min(this.log.length, from);
  }

  private rewind(at: number): void {
    this.at = Math.max(0, at);
    this.happened = Math.min(this.happened, firstAbove(this.places, this.at));
  }

  private get start(): number {
    return this.length > 0 ? firstAbove(this.places, 0) : 0;
  }

  private placeOf(index: number): number {
    return this.places[index] ?? this.length;
  }

  private gapBefore(index: number): number {
    return Math.max(0, (this.log.times[index] ?? 0) - (this.log.times[index - 1] ?? 0));
  }
}

/** The index of the first of these numbers, which grow, that is more than that one. */
const firstAbove = (numbers: Float64Array, limit: number): number => {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
};
