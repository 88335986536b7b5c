/** When each agent of a swarm was in which state, noted event by event. */

export interface StateSpan {
  /** A state of an agent, or `lost` while nobody ran it. */
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** After its end an agent is in no state that takes time. */
const OVER = 'stopped';
const AT_REST: ReadonlySet<string> = new Set([OVER, 'idle', 'queued', 'lost']);

/** Whether it has something to do and is there to do it, if only to wait for an answer. */
export const isBusy = (state: string): boolean => !AT_REST.has(state);

interface Lane {
  readonly spans: StateSpan[];
  state: string;
  since: number;
  lastHeard: number;
}

/** A process took the lead: the last sign of life of the one before, and when that was. */
interface Taking {
  readonly at: number;
  readonly lastSign: number;
}

export class StateTimeline {
  private readonly lanes = new Map<string, Lane>();
  private readonly takings: Taking[] = [];
  private lastSign: number | undefined;

  /** Clocks of several machines differ: the time of one agent never goes back. */
  note(agent: string, state: string, ts: number): void {
    const lane = this.laneOf(agent, state, ts);
    const at = Math.max(ts, lane.lastHeard);
    lane.lastHeard = at;
    this.lastSign = Math.max(this.lastSign ?? at, at);
    if (state !== lane.state) this.change(lane, state, at);
  }

  /** A process has taken it: since the last sign of the one before, which this returns, nobody ran it. */
  take(agent: string, isLead: boolean, ts: number): number {
    if (isLead) this.takings.push({ at: ts, lastSign: this.lastSign ?? ts });
    const lane = this.lanes.get(agent);
    if (lane === undefined) return ts;
    return this.ownLose(lane, this.lastSignOf(lane) ?? lane.lastHeard, ts);
  }

  /** Nobody runs it any more, and it has not ended. */
  lose(agent: string, end: number): void {
    const lane = this.lanes.get(agent);
    if (lane !== undefined) this.ownLose(lane, this.lastSignOf(lane) ?? this.lastSign ?? end, end);
  }

  /** The worker that ran it is gone: what the lead and others did since says nothing about that one. */
  loseWorker(agent: string, end: number): void {
    const lane = this.lanes.get(agent);
    if (lane !== undefined) this.ownLose(lane, lane.lastHeard, end);
  }

  /** What came before is the history of another session. */
  forget(ts: number): void {
    for (const lane of this.lanes.values()) {
      lane.spans.length = 0;
      lane.since = ts;
      lane.lastHeard = ts;
    }
    this.takings.length = 0;
    this.lastSign = ts;
  }

  /** Of one agent until `end`, in order of time and without overlaps. */
  spansOf(agent: string, end: number): readonly StateSpan[] {
    const lane = this.lanes.get(agent);
    if (lane === undefined) return [];
    const { spans, state, since } = lane;
    return state === OVER || end <= since ? spans : [...spans, { state, from: since, to: end }];
  }

  private laneOf(agent: string, state: string, ts: number): Lane {
    const known = this.lanes.get(agent);
    if (known !== undefined) return known;
    const lane = { spans: [], state, since: ts, lastHeard: ts };
    this.lanes.set(agent, lane);
    return lane;
  }

  private change(lane: Lane, state: string, at: number): void {
    const { spans, state: before, since } = lane;
    if (before !== OVER && at > since) spans.push({ state: before, from: since, to: at });
    lane.state = state;
    lane.since = at;
  }

  /** Since when: its process lived at least until its own last event. */
  private ownLose(lane: Lane, lastSign: number, ts: number): number {
    const from = Math.max(lane.lastHeard, Math.min(lastSign, ts));
    // Who does not work loses nothing with its process.
    if (isBusy(lane.state) && from < ts) this.change(lane, 'lost', from);
    return from;
  }

  /** Of the process of its lead that ran it, where another one has taken the lead since. */
  private lastSignOf({ lastHeard: ts }: Lane): number | undefined {
    let found: Taking | undefined;
    // From the end: an index that somebody else wrote may have any number of them.
    for (let at = this.takings.length - 1; at >= 0; at -= 1) {
      const taking = this.takings[at];
      if (taking === undefined || taking.at < ts) break;
      found = taking;
    }
    return found?.lastSign;
  }
}
