/** Records the states of each agent over time. */

export interface StateSpan {
  /** State of the agent, or `lost` while no process ran it. */
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** State after the end of an agent. It has no span. */
const OVER = 'stopped';
const IDLE_STATES: ReadonlySet<string> = new Set([OVER, 'idle', 'queued', 'lost']);

/** True if the agent has work and a process, even if it waits for an answer. */
export const isBusy = (state: string): boolean => !IDLE_STATES.has(state);

interface Lane {
  readonly spans: StateSpan[];
  state: string;
  since: number;
  lastEventAt: number;
}

/** Takeover of the session at `at`. `lastSign` is the last event of the previous process. */
interface Takeover {
  readonly at: number;
  readonly lastSign: number;
}

export class StateTimeline {
  private readonly lanes = new Map<string, Lane>();
  private readonly takeovers: Takeover[] = [];
  private lastSign: number | undefined;

  /** Records a state. The time of an agent never goes back, because the clocks of several machines differ. */
  note(agent: string, state: string, ts: number): void {
    const lane = this.laneOf(agent, state, ts);
    const at = Math.max(ts, lane.lastEventAt);
    lane.lastEventAt = at;
    this.lastSign = Math.max(this.lastSign ?? at, at);
    if (state !== lane.state) this.change(lane, state, at);
  }

  /** Records a takeover. Returns the last sign of the previous process, since which no process ran the agent. */
  take(agent: string, isLead: boolean, ts: number): number {
    if (isLead) this.takeovers.push({ at: ts, lastSign: this.lastSign ?? ts });
    const lane = this.lanes.get(agent);
    if (lane === undefined) return ts;
    return this.loseFrom(lane, this.lastSignOf(lane) ?? lane.lastEventAt, ts);
  }

  /** Marks an agent as lost: it has not ended, and no process runs it. */
  lose(agent: string, end: number): void {
    const lane = this.lanes.get(agent);
    if (lane !== undefined) this.loseFrom(lane, this.lastSignOf(lane) ?? this.lastSign ?? end, end);
  }

  /** Marks an agent as lost because its worker died. Events of other processes do not count as its signs. */
  loseWorker(agent: string, end: number): void {
    const lane = this.lanes.get(agent);
    if (lane !== undefined) this.loseFrom(lane, lane.lastEventAt, end);
  }

  /** Drops all spans at the end of a copied prefix. */
  reset(ts: number): void {
    for (const lane of this.lanes.values()) {
      lane.spans.length = 0;
      lane.since = ts;
      lane.lastEventAt = ts;
    }
    this.takeovers.length = 0;
    this.lastSign = ts;
  }

  /** Returns the spans of an agent until `end`, in order of time and without overlaps. */
  spansOf(agent: string, end: number): readonly StateSpan[] {
    const lane = this.lanes.get(agent);
    if (lane === undefined) return [];
    const { spans, state, since } = lane;
    return state === OVER || end <= since ? spans : [...spans, { state, from: since, to: end }];
  }

  private laneOf(agent: string, state: string, ts: number): Lane {
    const existing = this.lanes.get(agent);
    if (existing !== undefined) return existing;
    const lane = { spans: [], state, since: ts, lastEventAt: ts };
    this.lanes.set(agent, lane);
    return lane;
  }

  private change(lane: Lane, state: string, at: number): void {
    const { spans, state: before, since } = lane;
    if (before !== OVER && at > since) spans.push({ state: before, from: since, to: at });
    lane.state = state;
    lane.since = at;
  }

  /** Returns the start of the lost time. The process lived at least until the agent's last event. */
  private loseFrom(lane: Lane, lastSign: number, ts: number): number {
    const from = Math.max(lane.lastEventAt, Math.min(lastSign, ts));
    // An idle agent is not lost with its process.
    if (isBusy(lane.state) && from < ts) this.change(lane, 'lost', from);
    return from;
  }

  /** Returns the last sign of the lead's process that ran the agent, if another process has taken over since. */
  private lastSignOf({ lastEventAt: ts }: Lane): number | undefined {
    let found: Takeover | undefined;
    // From the end, because a forged index may have any number of takeovers.
    for (let at = this.takeovers.length - 1; at >= 0; at -= 1) {
      const takeover = this.takeovers[at];
      if (takeover === undefined || takeover.at < ts) break;
      found = takeover;
    }
    return found?.lastSign;
  }
}
