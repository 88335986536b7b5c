/**
 * The calls of a message: their status, and which call may start next. A message may have thousands of calls,
 * so no event visits all of them: calls are found by id, counted by status, and startable or blocking calls
 * are kept in order.
 *
 * The board changes in place, although it is part of a machine's context, because a copy for each change would
 * make a wide message quadratic. No code keeps or persists an earlier context, and a rebuilt agent gets a new
 * board from its journal.
 */
import type { Call, CallClass, CallStatus } from '../protocol/agent/agent-state.js';
import { PositionHeap } from './position-heap.js';

/** Maximum calls that run at once. Further calls of a wide turn wait. */
export const MAX_CONCURRENT_CALLS = 32;

type Change = Partial<Omit<Call, 'id'>>;

/** Queued safe calls of a class. May contain calls that are not queued any more: see `firstIn`. */
interface Lane {
  readonly readOnly: boolean;
  readonly onlyWaits: boolean;
  readonly positions: PositionHeap;
}

export class CallBoard implements Iterable<Call> {
  private readonly calls: Call[] = [];
  private readonly positions = new Map<string, number>();
  private readonly count: Record<CallStatus, number> = {
    judging: 0,
    asking: 0,
    queued: 0,
    executing: 0,
    completed: 0,
    yielded: 0,
  };
  private refusals = 0;
  private runningCount = 0;
  /** Position before which every call is done. */
  private firstOpen = 0;
  /** Open calls that no later call may overtake. May contain calls that are done. */
  private readonly barriers = new PositionHeap();
  /** Lanes of the classes seen so far. */
  private readonly lanes: Lane[] = [];

  /** Returns a board with the journaled calls of a rebuilt agent. */
  static of(journaled: readonly { readonly id: string; readonly completed: boolean }[]): CallBoard {
    const board = new CallBoard();
    for (const { id, completed } of journaled) board.draft(id, completed ? 'completed' : 'judging');
    return board;
  }

  get size(): number {
    return this.calls.length;
  }

  /** Iterates in the order of the message. */
  [Symbol.iterator](): Iterator<Call> {
    return this.calls.values();
  }

  /** Adds a call. A call counts as unsafe until it has been judged. */
  draft(id: string, status: CallStatus = 'judging'): this {
    const at = this.calls.length;
    if (!this.positions.has(id)) this.positions.set(id, at);
    const call = { id, status, readOnly: false, safe: false, onlyWaits: false, refused: false };
    this.calls.push(call);
    this.take(call, at, undefined);
    return this;
  }

  queue({ id, readOnly, safe, onlyWaits }: CallClass): this {
    return this.change(id, { status: 'queued', readOnly, safe, onlyWaits });
  }

  ask({ id, readOnly, safe, onlyWaits }: CallClass): this {
    return this.change(id, { status: 'asking', readOnly, safe, onlyWaits });
  }

  complete(id: string, refused: boolean): this {
    return this.change(id, { status: 'completed', refused });
  }

  /**
   * Starts the calls that may start now, and returns their ids in order. Safe calls run side by side, an unsafe
   * call runs alone, and no call overtakes an earlier call if either could disturb the other. While the stream is
   * open only read-only calls start, so that a cut stream never had an effect. A call that only waits does not
   * count towards the maximum.
   */
  start(streamOpen: boolean): readonly string[] {
    const started: string[] = [];
    for (;;) {
      const at = this.startable(streamOpen);
      if (at === undefined) return started;
      started.push(this.callAt(at).id);
      this.put(at, { status: 'executing' });
    }
  }

  /** Marks all results as sent to the model. */
  yieldAll(): this {
    for (const at of this.calls.keys()) this.put(at, { status: 'yielded' });
    return this;
  }

  /** True if a call runs, or can start without an answer of a person. */
  isBusy(windingDown: boolean): boolean {
    const { asking, queued } = this.count;
    if (this.isAtWork) return true;
    return windingDown ? asking + queued > 0 : this.startable(false) !== undefined;
  }

  /** True while a call is judged or runs. */
  get isAtWork(): boolean {
    return this.count.executing + this.count.judging > 0;
  }

  /** True if every other call has its result. */
  isLast(id: string): boolean {
    const at = this.positions.get(id);
    if (at === undefined || this.count.completed !== this.size - 1) return false;
    return this.callAt(at).status !== 'completed';
  }

  get isAsking(): boolean {
    return this.count.asking > 0;
  }

  /** True if every call has its result and the model has not seen the results yet. */
  get hasResults(): boolean {
    return this.size > 0 && this.count.completed === this.size;
  }

  get allRefused(): boolean {
    return this.refusals === this.size;
  }

  /** Returns the call at a position. All reads go through here, so that a test can count them. */
  protected callAt(at: number): Call {
    const call = this.calls[at];
    if (call === undefined) throw new RangeError(`There is no call at ${at}.`);
    return call;
  }

  private change(id: string, change: Change): this {
    const at = this.positions.get(id);
    if (at !== undefined) this.put(at, change);
    return this;
  }

  private put(at: number, change: Change): void {
    const before = this.callAt(at);
    const call = { ...before, ...change };
    this.calls[at] = call;
    this.count[before.status] -= 1;
    if (before.refused) this.refusals -= 1;
    if (countsAsRunning(before)) this.runningCount -= 1;
    this.take(call, at, before);
  }

  private take(call: Call, at: number, before: Call | undefined): void {
    this.count[call.status] += 1;
    if (call.refused) this.refusals += 1;
    if (countsAsRunning(call)) this.runningCount += 1;
    if (!isDone(call)) this.firstOpen = Math.min(this.firstOpen, at);
    const wasBarrier = before !== undefined && isBarrier(before);
    if (isBarrier(call) && !wasBarrier) this.barriers.add(at);
    if (call.status === 'queued' && call.safe) this.laneOf(call).positions.add(at);
  }

  private laneOf({ readOnly, onlyWaits }: Call): Lane {
    const existing = this.lanes.find(
      (lane) => lane.readOnly === readOnly && lane.onlyWaits === onlyWaits,
    );
    if (existing !== undefined) return existing;
    const lane = { readOnly, onlyWaits, positions: new PositionHeap() };
    this.lanes.push(lane);
    return lane;
  }

  /** Returns the position of the first call that may start now. */
  private startable(streamOpen: boolean): number | undefined {
    const alone = this.startableAlone(streamOpen);
    if (alone !== undefined) return alone;
    const end = this.firstBarrier();
    const isFull = this.runningCount >= MAX_CONCURRENT_CALLS;
    let first = end;
    for (const lane of this.lanes) {
      if ((streamOpen && !lane.readOnly) || (isFull && !lane.onlyWaits)) continue;
      first = Math.min(first, this.firstIn(lane));
    }
    return first < end ? first : undefined;
  }

  /** Returns the position of an unsafe call that may run alone. A safe call can become unsafe after its question. */
  private startableAlone(streamOpen: boolean): number | undefined {
    if (this.count.executing > 0) return undefined;
    while (this.firstOpen < this.size && isDone(this.callAt(this.firstOpen))) this.firstOpen += 1;
    if (this.firstOpen === this.size) return undefined;
    const { status, safe, readOnly } = this.callAt(this.firstOpen);
    const isReady = status === 'queued' && !safe && (readOnly || !streamOpen);
    return isReady ? this.firstOpen : undefined;
  }

  private firstBarrier(): number {
    return this.firstThat(isBarrier, this.barriers);
  }

  private firstIn(lane: Lane): number {
    return this.firstThat((call) => isIn(lane, call), lane.positions);
  }

  /** Drops positions that no longer belong when they reach the front. */
  private firstThat(belongs: (call: Call) => boolean, positions: PositionHeap): number {
    for (;;) {
      const { least } = positions;
      if (least === undefined) return Number.POSITIVE_INFINITY;
      if (belongs(this.callAt(least))) return least;
      positions.takeLeast();
    }
  }
}

export const isDone = ({ status }: Call): boolean => status === 'completed' || status === 'yielded';

const isBarrier = (call: Call): boolean =>
  !isDone(call) && (!call.safe || call.status === 'judging');

const isIn = ({ readOnly, onlyWaits }: Lane, call: Call): boolean =>
  call.status === 'queued' &&
  call.safe &&
  call.readOnly === readOnly &&
  call.onlyWaits === onlyWaits;

const countsAsRunning = ({ status, onlyWaits }: Call): boolean =>
  status === 'executing' && !onlyWaits;
