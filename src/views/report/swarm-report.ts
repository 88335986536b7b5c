/**
 * A session from its first event to its last, for people who look at it afterwards: folded from the
 * index alone, and never longer than a page can show.
 */
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { ListedJob } from '../../protocol/session/job-queue.js';
import type { SessionMeta } from '../../protocol/session/store.js';
import {
  type AskerStanding,
  PermissionHistory,
  type PermissionReport,
} from '../calls/permission-history.js';
import type { CacheReport } from '../cost/cache-report.js';
import { ForkedPrefixFilter } from '../cost/forked-prefix-filter.js';
import { CostLedger, type CostReport } from '../cost/session-cost.js';
import { SpendingCurve, type SpendingPoint } from '../cost/spending-curve.js';
import type { SwarmSource } from '../swarm/cached-job-list.js';
import { SwarmFold } from '../swarm/swarm-fold.js';
import type { AgentView } from '../swarm/swarm-view.js';
import { type ConcurrencyCurve, concurrencyCurve } from './concurrency-curve.js';
import { type IdleGap, idleGaps, lengthOf, timeWithout } from './idle-gaps.js';
import { spanThinning } from './span-thinning.js';
import { type StateSpan, StateTimeline } from './state-timeline.js';

/** One agent, without those that work for it. */
export interface AgentReport
  extends Pick<
    AgentView,
    | 'id'
    | 'name'
    | 'kind'
    | 'type'
    | 'parent'
    | 'depth'
    | 'description'
    | 'model'
    | 'status'
    | 'state'
    | 'turns'
    | 'stop'
  > {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Neither read from the cache nor written to it. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** USD; null when the price of a request is not known. */
  readonly costUsd: number | null;
  /** Milliseconds in each state, exactly. */
  readonly times: Readonly<Record<string, number>>;
  /** In order of time; short ones may be part of others, see `thinned`. */
  readonly spans: readonly StateSpan[];
}

export interface SwarmReport {
  readonly session: string;
  readonly title: string;
  readonly cwd: string;
  readonly model: string;
  readonly version: string;
  /** The session that this one continues; what that one did is not in here. */
  readonly continues: string | null;
  /** Somebody works on it: what is said here is as of `writtenAt`. */
  readonly isRunning: boolean;
  /** Milliseconds since 1970, as all times. */
  readonly writtenAt: number;
  readonly from: number;
  readonly to: number;
  /** When nobody worked, where that was long. */
  readonly pauses: readonly IdleGap[];
  /** The time without the pauses. */
  readonly activeMs: number;
  readonly turns: number;
  readonly cost: Pick<CostReport, 'pricesVersion' | 'models' | 'total'> & {
    readonly cache: Omit<CacheReport, 'misses' | 'missesLeftOut'>;
  };
  /** The lead first, each followed by those that work for it. */
  readonly agents: readonly AgentReport[];
  /** How many worked at once, from all of their spans. */
  readonly atWork: ConcurrencyCurve;
  readonly spending: readonly SpendingPoint[];
  readonly permissions: PermissionReport;
  readonly thinned: {
    /** Spans of states that are too short to be seen by themselves. */
    readonly spans: number;
    readonly shortestSpanMs: number;
    /** Requests that share a point of the curve with a later one. */
    readonly points: number;
  };
}

/** What a page can show without being slow. */
const MOST_SPANS = 20_000;
const MOST_POINTS = 400;
const WORK_COLUMNS = 250;

/** What is known beside the events. */
export interface ReportTerms {
  readonly isHeld: boolean;
  readonly jobs: readonly ListedJob[];
  readonly now: number;
}

export class ReportFold {
  private readonly session: SessionMeta;
  private readonly swarm: SwarmFold;
  private readonly ledger = new CostLedger();
  private readonly timeline = new StateTimeline();
  private readonly curve = new SpendingCurve();
  private readonly permissions = new PermissionHistory();
  private readonly inherited = new ForkedPrefixFilter();
  private from: number | undefined;
  private to = 0;

  constructor(session: SessionMeta) {
    this.session = session;
    this.swarm = new SwarmFold(session.lead);
  }

  take(given: SwarmEvent): void {
    const event = isTime(given.ts) ? given : { ...given, ts: this.to };
    const { agent, type, ts } = event;
    this.from = Math.min(this.from ?? ts, ts);
    this.to = Math.max(this.to, ts);
    this.swarm.take(event);
    this.ledger.take(event);
    this.curve.take(event);
    const isLead = agent === this.session.lead;
    // Who is taken over waited for nothing while nobody ran it.
    const until = type === 'epoch.began' ? this.timeline.take(agent, isLead, ts) : ts;
    this.permissions.take(event, until);
    if (this.inherited.endsWith(event)) this.forget(ts);
    this.timeline.note(agent, this.swarm.stateOf(agent) ?? 'idle', ts);
    if (type !== 'agent.requested' || typeof event.child !== 'string') return;
    this.timeline.note(event.child, this.swarm.stateOf(event.child) ?? 'queued', ts);
  }

  report({ isHeld, jobs, now }: ReportTerms): SwarmReport {
    const views = this.swarm.agents(isHeld, jobs);
    const isRunning = isHeld || views.some(({ status }) => status === 'running');
    const from = this.from ?? this.session.createdAt;
    const to = Math.max(from, isRunning ? now : this.to);
    const spans = views.map((view) => this.spansOf(view, to));
    const pauses = idleGaps(spans, from, to);
    const activeMs = timeWithout(pauses, from, to);
    const { lanes, leftOut, shortestMs } = spanThinning(spans, MOST_SPANS, activeMs);
    const { pricesVersion, models, total, agents, inherited, cache: books } = this.ledger.report();
    const { misses: _misses, missesLeftOut: _leftOut, ...cache } = books;
    const spending = this.curve.points(
      from,
      MOST_POINTS,
      (at) => timeWithout(pauses, from, at) / activeMs,
    );
    const costs = new Map(agents.map((cost) => [cost.agent, cost]));
    const askers = new Map(views.map((view, at) => [view.id, standingOf(view, spans[at], to)]));
    const { id, title, cwd, model, version } = this.session;
    return {
      session: id,
      title,
      cwd,
      model,
      version,
      continues: inherited?.session ?? null,
      isRunning,
      writtenAt: now,
      from,
      to,
      pauses,
      activeMs,
      turns: views.reduce((sum, { turns }) => sum + turns, 0),
      cost: { pricesVersion, models, total, cache },
      agents: views.map((view, at) => {
        return agentReport(view, costs.get(view.id), spans[at] ?? [], lanes[at] ?? []);
      }),
      atWork: concurrencyCurve(spans, { from, to, pauses }, WORK_COLUMNS),
      spending,
      permissions: this.permissions.report(
        (agent) => askers.get(agent) ?? { isLive: false, until: to },
      ),
      thinned: {
        spans: leftOut,
        shortestSpanMs: shortestMs,
        points: Math.max(0, this.curve.size + 1 - spending.length),
      },
    };
  }

  /** What came before is the history of another session. */
  private forget(ts: number): void {
    this.from = ts;
    this.to = ts;
    this.timeline.forget(ts);
    this.curve.forget();
    this.permissions.forget();
  }

  private spansOf({ id, status, hasLostWorker }: AgentView, to: number): readonly StateSpan[] {
    if (status === 'lost') this.timeline.lose(id, to);
    else if (hasLostWorker) this.timeline.loseWorker(id, to);
    return this.timeline.spansOf(id, to);
  }
}

/** The index is a file that anybody may have written to; the rest of time has no dates. */
const isTime = (ts: number): boolean => Math.abs(ts) <= 8.64e15;

/** A question is open until it can no longer be told, and has waited as long as the timeline has it so. */
const standingOf = (
  { status }: AgentView,
  spans: readonly StateSpan[] = [],
  to: number,
): AskerStanding => {
  const isLive = status === 'running' || status === 'queued';
  const last = spans.at(-1);
  return { isLive, until: !isLive && last?.state === 'lost' ? last.from : to };
};

type OwnCost = CostReport['agents'][number];

const agentReport = (
  view: AgentView,
  cost: OwnCost | undefined,
  whole: readonly StateSpan[],
  spans: readonly StateSpan[],
): AgentReport => {
  const { id, name, kind, type, parent, depth, description, model, status, state } = view;
  const times: Record<string, number> = {};
  for (const span of whole) times[span.state] = (times[span.state] ?? 0) + lengthOf(span);
  return {
    id,
    name,
    kind,
    type,
    parent,
    depth,
    description,
    model,
    status,
    state,
    turns: view.turns,
    stop: view.stop,
    startedAt: view.since,
    endedAt: view.endedAt,
    inputTokens: cost?.inputTokens ?? 0,
    outputTokens: cost?.outputTokens ?? 0,
    cacheReadTokens: cost?.cacheReadTokens ?? 0,
    cacheWriteTokens: cost?.cacheWriteTokens ?? 0,
    costUsd: cost === undefined ? 0 : cost.costUsd,
    times,
    spans,
  };
};

/** Of a session that somebody may be running; who holds it is asked first, as for a view of it. */
export const reportOfSession = async (
  store: SwarmSource,
  session: SessionMeta,
  now: () => number,
): Promise<SwarmReport> => {
  const isHeld = (await store.holder(session.id)) !== undefined;
  const jobs = store.jobs.own === undefined ? await store.jobs.list(session.id) : [];
  const fold = new ReportFold(session);
  for await (const event of store.events(session.id)) fold.take(event);
  return fold.report({ isHeld, jobs, now: now() });
};
