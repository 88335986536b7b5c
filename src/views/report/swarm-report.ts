/** Report on a whole session, folded from the event index. Bounded to the size of a page. */

import type { ListedJob } from '../../protocol/session/job-queue.js';
import type { SessionMeta } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import {
  type AskerLiveness,
  PermissionHistory,
  type PermissionReport,
} from '../calls/permission-history.js';
import type { CacheReport } from '../cost/cache-report.js';
import { ForkedPrefixFilter } from '../cost/forked-prefix-filter.js';
import { type CostReport, SessionCostFold } from '../cost/session-cost.js';
import { SpendingCurve, type SpendingPoint } from '../cost/spending-curve.js';
import type { SwarmReader } from '../swarm/cached-jobs.js';
import { SwarmFold } from '../swarm/swarm-fold.js';
import type { AgentView } from '../swarm/swarm-view.js';
import { type ConcurrencyCurve, concurrencyCurve } from './concurrency-curve.js';
import { type IdleGap, idleGaps, lengthOf, timeWithout } from './idle-gaps.js';
import { spanThinning } from './span-thinning.js';
import { type StateSpan, StateTimeline } from './state-timeline.js';

/** Report on one agent without its descendants. */
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
  /** Tokens neither read from the cache nor written to it. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** USD. Null if the price of a request is unknown. */
  readonly costUsd: number | null;
  /** Exact milliseconds in each state. */
  readonly times: Readonly<Record<string, number>>;
  /** In order of time. Short spans may be merged, see `thinned`. */
  readonly spans: readonly StateSpan[];
}

export interface SwarmReport {
  readonly session: string;
  readonly title: string;
  readonly cwd: string;
  readonly model: string;
  readonly version: string;
  /** Id of the session that this session was forked from. Its events are not included. */
  readonly continues: string | null;
  /** True if a process runs the session. The report is then as of `writtenAt`. */
  readonly isRunning: boolean;
  /** Milliseconds since 1970, like all times. */
  readonly writtenAt: number;
  readonly from: number;
  readonly to: number;
  /** Long times without work. */
  readonly pauses: readonly IdleGap[];
  /** Milliseconds without the pauses. */
  readonly activeMs: number;
  readonly turns: number;
  readonly cost: Pick<CostReport, 'pricesVersion' | 'models' | 'total'> & {
    readonly cache: Omit<CacheReport, 'misses' | 'missesLeftOut'>;
  };
  /** In tree order: the lead first, each agent followed by its descendants. */
  readonly agents: readonly AgentReport[];
  /** Concurrency over time, from all spans. */
  readonly atWork: ConcurrencyCurve;
  readonly spending: readonly SpendingPoint[];
  readonly permissions: PermissionReport;
  readonly thinned: {
    /** Number of merged spans. */
    readonly spans: number;
    readonly shortestSpanMs: number;
    /** Requests that share a point of the spending curve with a later request. */
    readonly points: number;
  };
}

// Limits that keep the page fast.
const MAX_SPANS = 20_000;
const MAX_POINTS = 400;
const WORK_COLUMNS = 250;

/** Facts that events do not contain. */
export interface ReportOptions {
  readonly isHeld: boolean;
  readonly jobs: readonly ListedJob[];
  readonly now: number;
}

export class ReportFold {
  private readonly session: SessionMeta;
  private readonly swarm: SwarmFold;
  private readonly cost = new SessionCostFold();
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

  take(source: SwarmEvent): void {
    const event = isTime(source.ts) ? source : { ...source, ts: this.to };
    const { agent, type, ts } = event;
    this.from = Math.min(this.from ?? ts, ts);
    this.to = Math.max(this.to, ts);
    this.swarm.take(event);
    this.cost.take(event);
    this.curve.take(event);
    const isLead = agent === this.session.lead;
    // Time without a process does not count as waiting time of a question.
    const until = type === 'epoch.began' ? this.timeline.take(agent, isLead, ts) : ts;
    this.permissions.take(event, until);
    if (this.inherited.endsWith(event)) this.reset(ts);
    this.timeline.note(agent, this.swarm.stateOf(agent) ?? 'idle', ts);
    if (type !== 'agent.requested' || typeof event.child !== 'string') return;
    this.timeline.note(event.child, this.swarm.stateOf(event.child) ?? 'queued', ts);
  }

  report({ isHeld, jobs, now }: ReportOptions): SwarmReport {
    const views = this.swarm.agents(isHeld, jobs);
    const isRunning = isHeld || views.some(({ status }) => status === 'running');
    const from = this.from ?? this.session.createdAt;
    const to = Math.max(from, isRunning ? now : this.to);
    const spans = views.map((view) => this.spansOf(view, to));
    const pauses = idleGaps(spans, from, to);
    const activeMs = timeWithout(pauses, from, to);
    const { lanes, leftOut, shortestMs } = spanThinning(spans, MAX_SPANS, activeMs);
    const {
      pricesVersion,
      models,
      total,
      agents,
      inherited,
      cache: fullCache,
    } = this.cost.report();
    const { misses: _misses, missesLeftOut: _leftOut, ...cache } = fullCache;
    const spending = this.curve.points(
      from,
      MAX_POINTS,
      (at) => timeWithout(pauses, from, at) / activeMs,
    );
    const costs = new Map(agents.map((cost) => [cost.agent, cost]));
    const askers = new Map(views.map((view, at) => [view.id, livenessOf(view, spans[at], to)]));
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

  /** Drops the totals at the end of a copied prefix. */
  private reset(ts: number): void {
    this.from = ts;
    this.to = ts;
    this.timeline.reset(ts);
    this.curve.reset();
    this.permissions.reset();
  }

  private spansOf({ id, status, hasLostWorker }: AgentView, to: number): readonly StateSpan[] {
    if (status === 'lost') this.timeline.lose(id, to);
    else if (hasLostWorker) this.timeline.loseWorker(id, to);
    return this.timeline.spansOf(id, to);
  }
}

/** True for times that a Date can hold. Times from the index are not trusted. */
const isTime = (ts: number): boolean => Math.abs(ts) <= 8.64e15;

/** A question of a live agent waits until `to`, a question of a lost agent until the agent was lost. */
const livenessOf = (
  { status }: AgentView,
  spans: readonly StateSpan[] = [],
  to: number,
): AskerLiveness => {
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

/** Reads the holder before the events, so that an agent that has just ended is not reported as lost. */
export const swarmReport = async (
  store: SwarmReader,
  session: SessionMeta,
  now: () => number,
): Promise<SwarmReport> => {
  const isHeld = (await store.holder(session.id)) !== undefined;
  const jobs = store.jobs.local === undefined ? await store.jobs.list(session.id) : [];
  const fold = new ReportFold(session);
  for await (const event of store.events(session.id)) fold.take(event);
  return fold.report({ isHeld, jobs, now: now() });
};
