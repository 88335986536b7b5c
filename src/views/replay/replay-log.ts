/**
 * Log of a swarm in memory, for playback. Each event is kept without the ends of long texts and without
 * digests, which takes about 400 bytes. The beginning of a very long log is kept as one fold, which can
 * be shown but not replayed.
 */

import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { SwarmFold } from '../swarm/swarm-fold.js';

export type ReplayMarkKind = 'question' | 'failure' | 'end';

/** Event that people search for in a log. */
export interface ReplayMark {
  /** Index of the event. */
  readonly index: number;
  readonly kind: ReplayMarkKind;
}

const MAX_EVENTS = 500_000;
const MAX_VALUE_LENGTH = 400;
/** Largest time that a Date can hold. */
const MAX_TIME = 8.64e15;

interface ReplayLogOptions {
  readonly maxEvents: number;
}

export class ReplayLog {
  readonly session: SessionMeta;
  readonly events: readonly SwarmEvent[];
  /** Time of each event, milliseconds since 1970. Never decreases. */
  readonly times: Float64Array;
  readonly marks: readonly ReplayMark[];
  /** Fold of all events before `events`. */
  readonly beginning: SwarmFold;
  /** Number of events in `beginning`. */
  readonly left: number;
  /** True if a process runs the swarm, so that the log will grow. */
  readonly isHeld: boolean;
  private readonly byAgent = new Map<string, number[]>();
  /** Indices of events with which another process took over the session. */
  private readonly takeovers: ReadonlySet<number>;

  constructor(session: SessionMeta, read: ReadEvents, isHeld: boolean) {
    const { events, left, beginning } = read;
    this.session = session;
    this.events = events;
    this.left = left;
    this.beginning = beginning;
    this.isHeld = isHeld;
    this.times = new Float64Array(events.length);
    const marks: ReplayMark[] = [];
    const takeovers = new Set<number>();
    let isFirst = left === 0;
    let latest = 0;
    for (const [index, event] of events.entries()) {
      latest = Math.max(latest, Math.min(event.ts, MAX_TIME));
      this.times[index] = latest;
      const kind = markOf(event);
      if (kind !== undefined) marks.push({ index, kind });
      if (isTakeover(event, session)) {
        if (!isFirst) takeovers.add(index);
        isFirst = false;
      }
      const own = this.byAgent.get(event.agent);
      if (own === undefined) this.byAgent.set(event.agent, [index]);
      else own.push(index);
    }
    this.marks = marks;
    this.takeovers = takeovers;
  }

  get length(): number {
    return this.events.length;
  }

  /** Number of agents with events in the log. */
  get agentCount(): number {
    return this.byAgent.size;
  }

  /** True if the process that held the session was alive after `position` events. */
  isLiveAt(position: number): boolean {
    if (position >= this.length) return this.isHeld;
    return !this.takeovers.has(position);
  }

  /** True if the same process continues the agent after `position` events. */
  continues(agent: string, position: number): boolean {
    const own = this.byAgent.get(agent) ?? [];
    const next = this.events[own[countBelow(own, position)] ?? -1];
    return next !== undefined && next.type !== 'epoch.began';
  }

  /** Returns the newest record number of an agent that the first `position` events cite, or 0. */
  lastSeqOf(agent: string, position: number): number {
    const own = this.byAgent.get(agent) ?? [];
    const last = this.events[own[countBelow(own, position) - 1] ?? -1];
    return last?.cites.seq ?? 0;
  }
}

/** Returns how many of the ascending numbers are below the limit. */
const countBelow = (numbers: readonly number[], limit: number): number => {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
};

interface ReadEvents {
  readonly events: readonly SwarmEvent[];
  readonly left: number;
  readonly beginning: SwarmFold;
}

/** Reads the holder before the events, so that the last events of a process that ends are read. Rejects like the store. */
export const readReplayLog = async (
  store: Pick<SessionStore, 'events' | 'holder'>,
  session: SessionMeta,
  bounds: ReplayLogOptions = { maxEvents: MAX_EVENTS },
): Promise<ReplayLog> => {
  const isHeld = (await store.holder(session.id)) !== undefined;
  const beginning = new SwarmFold(session.lead);
  const slack = Math.ceil(bounds.maxEvents / 4);
  let [events, left]: [SwarmEvent[], number] = [[], 0];
  const dropTo = (maxEvents: number) => {
    const over = Math.max(0, events.length - maxEvents);
    for (const event of events.slice(0, over)) beginning.take(event);
    left += over;
    if (over > 0) events = events.slice(over);
  };
  for await (const event of store.events(session.id)) {
    events.push(slim(event));
    if (events.length > bounds.maxEvents + slack) dropTo(bounds.maxEvents);
  }
  dropTo(bounds.maxEvents);
  return new ReplayLog(session, { events, left, beginning }, isHeld);
};

/** Returns the event without long values, or the same object if there are none. */
const slim = (event: SwarmEvent): SwarmEvent => {
  const long = Object.entries(event).filter(
    ([key, value]) =>
      key === 'shape' || (typeof value === 'string' && value.length > MAX_VALUE_LENGTH),
  );
  if (long.length === 0) return event;
  const short = long.map(([key, value]) => [
    key,
    typeof value === 'string' ? `${value.slice(0, MAX_VALUE_LENGTH).toWellFormed()}…` : undefined,
  ]);
  return { ...event, ...Object.fromEntries(short) };
};

const isTakeover = ({ type, agent }: SwarmEvent, { lead }: SessionMeta): boolean =>
  type === 'epoch.began' && agent === lead;

const FAILURES: ReadonlySet<string> = new Set([
  'turn.failed',
  'agent.restarted',
  'letter.undelivered',
  'bound.hit',
]);

const markOf = ({ type, reason }: SwarmEvent): ReplayMarkKind | undefined => {
  if (type === 'permission.requested') return 'question';
  if (FAILURES.has(type)) return 'failure';
  if (type !== 'agent.stopped' && type !== 'run.ended') return undefined;
  return reason === 'end_turn' || reason === 'stopped' ? 'end' : 'failure';
};
