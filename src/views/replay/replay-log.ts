/**
 * The log of a swarm, read once to be played back. Kept of each event: its values, without the ends of long
 * texts and without lists of digests, which is about 400 bytes; its place in time; and who may come next.
 * Of a very long log the beginning is kept as what it came to: it can be seen, and not gone back into.
 */
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/store.js';
import { SwarmFold } from '../swarm/swarm-fold.js';

export type MarkKind = 'question' | 'failure' | 'end';

/** Something that people look for in a log. */
export interface Mark {
  /** The event with this index. */
  readonly index: number;
  readonly kind: MarkKind;
}

const MOST_EVENTS = 500_000;
const LONGEST_VALUE = 400;
/** Times that a date can be made of. */
const LATEST = 8.64e15;

export interface LogBounds {
  readonly events: number;
}

export class ReplayLog {
  readonly session: SessionMeta;
  readonly events: readonly SwarmEvent[];
  /** Milliseconds since 1970 of each event; never less than of the one before. */
  readonly times: Float64Array;
  readonly marks: readonly Mark[];
  /** What came before the first of the events. */
  readonly beginning: SwarmFold;
  readonly left: number;
  /** Somebody works on it: the end of the log is not the end of the swarm. */
  readonly isHeld: boolean;
  private readonly byAgent = new Map<string, number[]>();
  /** The events with which another process took the session. */
  private readonly takings: ReadonlySet<number>;

  constructor(session: SessionMeta, read: ReadEvents, isHeld: boolean) {
    const { events, left, beginning } = read;
    this.session = session;
    this.events = events;
    this.left = left;
    this.beginning = beginning;
    this.isHeld = isHeld;
    this.times = new Float64Array(events.length);
    const marks: Mark[] = [];
    const takings = new Set<number>();
    let isFirst = left === 0;
    let latest = 0;
    for (const [index, event] of events.entries()) {
      latest = Math.max(latest, Math.min(event.ts, LATEST));
      this.times[index] = latest;
      const kind = markOf(event);
      if (kind !== undefined) marks.push({ index, kind });
      if (isTaking(event, session)) {
        if (!isFirst) takings.add(index);
        isFirst = false;
      }
      const own = this.byAgent.get(event.agent);
      if (own === undefined) this.byAgent.set(event.agent, [index]);
      else own.push(index);
    }
    this.marks = marks;
    this.takings = takings;
  }

  get length(): number {
    return this.events.length;
  }

  /** How many agents wrote in it. */
  get agentCount(): number {
    return this.byAgent.size;
  }

  /** Whether the process that had the session was still there when so many events had happened. */
  isLiveAt(position: number): boolean {
    if (position >= this.length) return this.isHeld;
    return !this.takings.has(position);
  }

  /** Whether somebody goes on with an agent after so many events: it does not have to be taken up again. */
  goesOn(agent: string, position: number): boolean {
    const own = this.byAgent.get(agent) ?? [];
    const next = this.events[own[countBelow(own, position)] ?? -1];
    return next !== undefined && next.type !== 'epoch.began';
  }

  /** The newest entry in the journal of an agent that so many events tell of; 0 for none. */
  citedBy(agent: string, position: number): number {
    const own = this.byAgent.get(agent) ?? [];
    const last = this.events[own[countBelow(own, position) - 1] ?? -1];
    return last?.cites.seq ?? 0;
  }
}

/** How many of these numbers, which grow, are less than that one. */
const countBelow = (numbers: readonly number[], limit: number): number => {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
};

export interface ReadEvents {
  readonly events: readonly SwarmEvent[];
  readonly left: number;
  readonly beginning: SwarmFold;
}

/** Rejects as the store does. Who holds the session is asked first: what is written before that one goes is read. */
export const readLog = async (
  store: Pick<SessionStore, 'events' | 'holder'>,
  session: SessionMeta,
  bounds: LogBounds = { events: MOST_EVENTS },
): Promise<ReplayLog> => {
  const isHeld = (await store.holder(session.id)) !== undefined;
  const beginning = new SwarmFold(session.lead);
  const slack = Math.ceil(bounds.events / 4);
  let [events, left]: [SwarmEvent[], number] = [[], 0];
  const dropTo = (most: number) => {
    const over = Math.max(0, events.length - most);
    for (const event of events.slice(0, over)) beginning.take(event);
    left += over;
    if (over > 0) events = events.slice(over);
  };
  for await (const event of store.events(session.id)) {
    events.push(slim(event));
    if (events.length > bounds.events + slack) dropTo(bounds.events);
  }
  dropTo(bounds.events);
  return new ReplayLog(session, { events, left, beginning }, isHeld);
};

/** The same event where there is nothing to leave out. */
const slim = (event: SwarmEvent): SwarmEvent => {
  const long = Object.entries(event).filter(
    ([key, value]) =>
      key === 'shape' || (typeof value === 'string' && value.length > LONGEST_VALUE),
  );
  if (long.length === 0) return event;
  const short = long.map(([key, value]) => [
    key,
    typeof value === 'string' ? `${value.slice(0, LONGEST_VALUE).toWellFormed()}…` : undefined,
  ]);
  return { ...event, ...Object.fromEntries(short) };
};

const isTaking = ({ type, agent }: SwarmEvent, { lead }: SessionMeta): boolean =>
  type === 'epoch.began' && agent === lead;

const FAILURES: ReadonlySet<string> = new Set([
  'turn.failed',
  'agent.restarted',
  'letter.undelivered',
  'bound.hit',
]);

const markOf = ({ type, reason }: SwarmEvent): MarkKind | undefined => {
  if (type === 'permission.requested') return 'question';
  if (FAILURES.has(type)) return 'failure';
  if (type !== 'agent.stopped' && type !== 'run.ended') return undefined;
  return reason === 'end_turn' || reason === 'stopped' ? 'end' : 'failure';
};
