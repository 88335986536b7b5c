/**
 * The calls of a message: which may start, and what the crew is busy with. A message may have
 * thousands, so no event looks at all of them: calls are found by id, counted by status, and those
 * that could start or are in the way are kept in order.
 *
 * It is changed in place, although it is part of a machine's context: a copy for each change is
 * what would make a wide message quadratic. Nobody keeps or persists the context of an earlier
 * moment, and a rebuilt agent gets a board of its own, from the journal.
 */
import type { Call, CallClass, CallStatus } from '../protocol/agent/agent.js';
import { PositionHeap } from './position-heap.js';

/** Calls that run side by side; the rest of a wide turn waits for a place. */
export const MOST_AT_ONCE = 32;

type Change = Partial<Omit<Call, 'id'>>;

/** Safe calls that wait to start, of one class. Some may have moved on since: see `firstIn`. */
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
  private failures = 0;
  private placesTaken = 0;
  /** No call before this one is open. */
  private firstOpen = 0;
  /** Open calls that no later one may overtake; some may be over. */
  private readonly barriers = new PositionHeap();
  /** Of the classes that have been seen: most boards are of one call, or of none. */
  private readonly lanes: Lane[] = [];

  /** Calls of a rebuilt agent, as far as the journal knows. */
  static of(known: readonly { readonly id: string; readonly completed: boolean }[]): CallBoard {
    const board = new CallBoard();
    for (const { id, completed } of known) board.draft(id, completed ? 'completed' : 'judging');
    return board;
  }

  get size(): number {
    return this.calls.length;
  }

  /** In the order in which the model asked. */
  [Symbol.iterator](): Iterator<Call> {
    return this.calls.values();
  }

  /** The worst is assumed of a call until it has been judged. */
  draft(id: string, status: CallStatus = 'judging'): this {
    const at = this.calls.length;
    if (!this.positions.has(id)) this.positions.set(id, at);
    const call = { id, status, readOnly: false, safe: false, onlyWaits: false, failed: false };
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

  complete(id: string, failed: boolean): this {
    return this.change(id, { status: 'completed', failed });
  }

  /**
   * Starts what may start now, and returns the ids in order. A safe call runs beside safe ones, an
   * unsafe call alone, and none overtakes an earlier call that it could disturb or that could
   * disturb it. While the stream is open only read-only calls start, so that a stream that is cut
   * never had an effect. A call that only waits takes no place, and needs none.
   */
  start(streamOpen: boolean): readonly string[] {
    const started: string[] = [];
    for (;;) {
      const at = this.startable(streamOpen);
      if (at === undefined) return started;
      started.push(this.look(at).id);
      this.put(at, { status: 'executing' });
    }
  }

  /** The results have been shown. */
  yieldAll(): this {
    for (const at of this.calls.keys()) this.put(at, { status: 'yielded' });
    return this;
  }

  /** Something is happening, or can happen, without anybody's answer. */
  isBusy(windingDown: boolean): boolean {
    const { asking, queued } = this.count;
    if (this.isAtWork) return true;
    return windingDown ? asking + queued > 0 : this.startable(false) !== undefined;
  }

  /** Calls are being judged or run. */
  get isAtWork(): boolean {
    return this.count.executing + this.count.judging > 0;
  }

  /** All others have their results. */
  isLast(id: string): boolean {
    const at = this.positions.get(id);
    if (at === undefined || this.count.completed !== this.size - 1) return false;
    return this.look(at).status !== 'completed';
  }

  get isAsking(): boolean {
    return this.count.asking > 0;
  }

  /** Every call has its result, and nobody has seen them yet. */
  get hasResults(): boolean {
    return this.size > 0 && this.count.completed === this.size;
  }

  get allFailed(): boolean {
    return this.failures === this.size;
  }

  /** Every look at a call goes through here, so that looks can be counted. */
  protected look(at: number): Call {
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
    const before = this.look(at);
    const call = { ...before, ...change };
    this.calls[at] = call;
    this.count[before.status] -= 1;
    if (before.failed) this.failures -= 1;
    if (holdsPlace(before)) this.placesTaken -= 1;
    this.take(call, at, before);
  }

  private take(call: Call, at: number, before: Call | undefined): void {
    this.count[call.status] += 1;
    if (call.failed) this.failures += 1;
    if (holdsPlace(call)) this.placesTaken += 1;
    if (!isDone(call)) this.firstOpen = Math.min(this.firstOpen, at);
    const wasBarrier = before !== undefined && isBarrier(before);
    if (isBarrier(call) && !wasBarrier) this.barriers.add(at);
    if (call.status === 'queued' && call.safe) this.laneOf(call).positions.add(at);
  }

  private laneOf({ readOnly, onlyWaits }: Call): Lane {
    const known = this.lanes.find(
      (lane) => lane.readOnly === readOnly && lane.onlyWaits === onlyWaits,
    );
    if (known !== undefined) return known;
    const lane = { readOnly, onlyWaits, positions: new PositionHeap() };
    this.lanes.push(lane);
    return lane;
  }

  /** The position of the first call that may start now. */
  private startable(streamOpen: boolean): number | undefined {
    const alone = this.startableAlone(streamOpen);
    if (alone !== undefined) return alone;
    const end = this.firstBarrier();
    const isFull = this.placesTaken >= MOST_AT_ONCE;
    let first = end;
    for (const lane of this.lanes) {
      if ((streamOpen && !lane.readOnly) || (isFull && !lane.onlyWaits)) continue;
      first = Math.min(first, this.firstIn(lane));
    }
    return first < end ? first : undefined;
  }

  /** A later call may run already: one that was safe when it was asked about need not be any more. */
  private startableAlone(streamOpen: boolean): number | undefined {
    if (this.count.executing > 0) return undefined;
    while (this.firstOpen < this.size && isDone(this.look(this.firstOpen))) this.firstOpen += 1;
    if (this.firstOpen === this.size) return undefined;
    const { status, safe, readOnly } = this.look(this.firstOpen);
    const isReady = status === 'queued' && !safe && (readOnly || !streamOpen);
    return isReady ? this.firstOpen : undefined;
  }

  private firstBarrier(): number {
    return this.firstThat(isBarrier, this.barriers);
  }

  private firstIn(lane: Lane): number {
    return this.firstThat((call) => isIn(lane, call), lane.positions);
  }

  /** What no longer belongs among the positions is dropped when it comes to the front. */
  private firstThat(belongs: (call: Call) => boolean, positions: PositionHeap): number {
    for (;;) {
      const { least } = positions;
      if (least === undefined) return Number.POSITIVE_INFINITY;
      if (belongs(this.look(least))) return least;
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

const holdsPlace = ({ status, onlyWaits }: Call): boolean => status === 'executing' && !onlyWaits;
