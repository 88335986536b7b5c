/**
 * Swarm lines: short lines about starts, ends and costs of children.
 *
 * Many agents at once share a line, so that a hundred of them stay readable.
 */
import { redact } from '../../policy/redaction/redact.js';
import { type AgentTag, isWaitedFor } from '../../protocol/agent/agent-tag.js';
import { type ChildReport, outcomeOf } from '../../protocol/agent/child-report.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { formatMoney, formatNumber, plural } from '../text/format-number.js';
import { oneLine, sanitize } from '../text/sanitize.js';

/** Starts and ends within this time are shown together. */
const BATCH_MS = 150;
/** Maximum agents of a batch that get a line each. */
const MAX_LISTED_AGENTS = 3;
/** Size of a wave up to which every end gets a line. A larger wave is reported in tenths. */
const SMALL_WAVE = 10;
/** Maximum failures, and maximum retries, of a large wave with a line each. Further failures are only counted. */
const MAX_LISTED_FAILURES = 5;
const MAX_TEXT_LENGTH = 100;
/** A retry says what failed and what to check. */
const MAX_RETRY_LENGTH = 400;
const SHORT_ID_LENGTH = 8;

export interface SwarmLine {
  readonly text: string;
  readonly isAlarming: boolean;
  /** Worker that started the agent of the line. */
  readonly worker?: string;
}

interface SwarmLinesOptions {
  readonly show: (line: SwarmLine) => void;
  /** Shows the calls of children too. */
  readonly isVerbose: boolean;
  /** Runs the flush of a batch later. Default: after `BATCH_MS`. */
  readonly schedule?: (flush: () => void) => void;
}

type Spawned = Extract<FeedItem, { type: 'agent.spawned' }>;

export class SwarmLines {
  private readonly options: SwarmLinesOptions;
  private readonly live = new Map<string, AgentTag>();
  private started: Spawned[] = [];
  private ended: ChildReport[] = [];
  private isDue = false;
  private wave = newWave();

  constructor(options: SwarmLinesOptions) {
    this.options = options;
  }

  receive(item: FeedItem): void {
    if (item.type === 'agent.spawned') this.begin(item);
    else if (item.type === 'agent.ended' || item.type === 'agent.rested') this.end(item.report);
    else if (item.type === 'agent.feed') this.receiveInner(item.agent, item.item);
    else if (item.type === 'agent.seen') this.receiveRemote(item);
    else if (item.type === 'fan-out.previewed') this.show(`(${previewText(item.preview)})`);
  }

  /** True if this call started an agent, whose start and end have lines of their own. */
  startedAgent(call: string): boolean {
    return this.wave.calls.has(call);
  }

  /** Returns the display name of a running child, else undefined. */
  nameOf(id: string): string | undefined {
    const agent = this.live.get(id);
    return agent === undefined ? undefined : agentName(agent);
  }

  /** Returns the ancestors of a running child and its task, else undefined. */
  purposeOf(id: string): string | undefined {
    const agent = this.live.get(id);
    if (agent === undefined) return undefined;
    return `${this.ancestorsOf(agent).join(' → ')}, ${agent.description}`;
  }

  /** Returns the names of all ancestors, the lead first. Stops unless the depth decreases, since parent ids may form a cycle. */
  private ancestorsOf({ parent, depth }: AgentTag): readonly string[] {
    const next = this.live.get(parent);
    if (next === undefined || next.depth >= depth) return ['the lead'];
    return [...this.ancestorsOf(next), agentName(next)];
  }

  /** Running agents that no Task call waits for. */
  backgroundAgents(): readonly AgentTag[] {
    return [...this.live.values()].filter(({ kind }) => !isWaitedFor(kind));
  }

  /** Shows the batch at once. Call before other output, to keep the order. */
  flush(): void {
    const { started, ended } = this;
    [this.started, this.ended] = [[], []];
    this.showStarted(started);
    this.showEnded(ended);
    if (this.live.size === 0) this.wave = newWave(this.wave.calls);
  }

  private begin(item: Spawned): void {
    const { agent } = item;
    if (!this.live.has(agent.id)) this.wave.size += 1;
    this.live.set(agent.id, agent);
    this.wave.calls.add(agent.call);
    this.started.push(item);
    this.scheduleFlush();
  }

  private end(report: ChildReport): void {
    // The report of a teammate was shown when it became idle.
    const isKnown = this.live.delete(report.agent.id);
    if (!isKnown && report.agent.kind === 'teammate') return;
    this.ended.push(report);
    this.scheduleFlush();
  }

  /** Shows the worker that has started an agent, and the failed attempts of the agent there. */
  private receiveRemote({ agent, worker, event }: Extract<FeedItem, { type: 'agent.seen' }>): void {
    if (!this.live.has(agent.id)) return;
    if (event.type === 'turn.failed') {
      this.showRetry(agent, `attempt ${Number(event.attempt)} failed: ${String(event.message)}`);
    }
    if (worker === undefined || this.wave.size > SMALL_WAVE) return;
    this.flush();
    const text = `${indentOf(agent)}${agentName(agent)} runs on worker ${workerName(worker)}`;
    this.options.show({ text, isAlarming: false, worker: shown(worker, MAX_TEXT_LENGTH) });
  }

  /** Shows each retry of a small wave, and the first retries of a larger one. */
  private showRetry(agent: AgentTag, text: string): void {
    this.wave.retries += 1;
    if (this.wave.size > SMALL_WAVE && this.wave.retries > MAX_LISTED_FAILURES) return;
    this.flush();
    this.show(`${indentOf(agent)}${agentName(agent)}: ${shown(text, MAX_RETRY_LENGTH)}`);
  }

  private receiveInner(agent: AgentTag, item: FeedItem): void {
    // An agent that resumes after a crash sends no `agent.spawned` to this process.
    if (!this.live.has(agent.id)) {
      this.live.set(agent.id, agent);
      this.wave.size += 1;
    }
    if (item.type === 'notice' && item.retry !== undefined) this.showRetry(agent, item.text);
    if (!this.options.isVerbose) return;
    const text = innerText(item);
    if (text === undefined) return;
    this.flush();
    this.show(`${indentOf(agent)}  ${agentName(agent)}: ${shown(text, MAX_TEXT_LENGTH)}`);
  }

  private scheduleFlush(): void {
    if (this.isDue) return;
    this.isDue = true;
    const { schedule = afterBatch } = this.options;
    schedule(() => {
      this.isDue = false;
      this.flush();
    });
  }

  private showStarted(items: readonly Spawned[]): void {
    if (items.length <= MAX_LISTED_AGENTS) {
      for (const { agent, isQueued, awaits = 'slot' } of items) {
        const word = isQueued ? `waits for a ${awaits}` : 'started';
        this.show(`${indentOf(agent)}${agentName(agent)} ${word}: ${purpose(agent)}`);
      }
      return;
    }
    const queued = items.filter(({ isQueued }) => isQueued).length;
    const awaited = items.some(({ awaits }) => awaits === 'worker') ? 'worker' : 'slot';
    const waiting = queued === 0 ? '' : `, ${formatNumber(queued)} of them wait for a ${awaited}`;
    this.show(`  ${countsByType(items.map(({ agent }) => agent))} started${waiting}`);
  }

  private showEnded(reports: readonly ChildReport[]): void {
    const { wave } = this;
    const isSmall = wave.size <= SMALL_WAVE && reports.length <= MAX_LISTED_AGENTS;
    for (const report of reports) {
      const isFailure = outcomeOf(report.stop) !== 'completed';
      wave.done += 1;
      wave.turns += report.turns;
      // The cost of an agent includes its descendants.
      if (report.agent.depth === 1) wave.cost = sum(wave.cost, report.cost);
      if (isFailure) wave.failed += 1;
      if (isSmall || (isFailure && wave.failed <= MAX_LISTED_FAILURES))
        this.showEnd(report, isFailure);
    }
    if (isSmall || reports.length === 0) return;
    const tenth = Math.floor((wave.done * 10) / wave.size);
    if (tenth === wave.tenth && this.live.size > 0) return;
    wave.tenth = tenth;
    const failed = wave.failed === 0 ? '' : `, ${formatNumber(wave.failed)} of them failed`;
    const took = `${plural(wave.turns, 'turn')}, ${costText(wave.cost)}`;
    this.show(
      `  ${formatNumber(wave.done)} of ${plural(wave.size, 'agent')} done${failed}; ${took}`,
    );
  }

  private showEnd(report: ChildReport, isAlarming: boolean): void {
    const { agent, stop, turns, cost, changedFiles, worktree } = report;
    const outcome = outcomeOf(stop);
    const isIdle = agent.kind === 'teammate' && stop.detail === null;
    const done = isIdle ? 'idle' : 'done';
    const word = outcome === 'completed' ? done : `${outcome} (${stop.reason})`;
    const why = stop.detail === null ? '' : `: ${shown(stop.detail, MAX_TEXT_LENGTH)}`;
    const files =
      changedFiles.length === 0 ? '' : `, ${plural(changedFiles.length, 'file')} changed`;
    const isMerged = worktree === undefined || MERGED_OUTCOMES.has(worktree.outcome.kind);
    const branch = isMerged ? '' : `, not merged: it is on the branch ${worktree.branch}`;
    const took = `${plural(turns, 'turn')}, ${costText(cost)}${files}${branch}`;
    this.show(`${indentOf(agent)}${agentName(agent)} ${word}, ${took}${why}`, isAlarming);
  }

  private show(text: string, isAlarming = false): void {
    this.options.show({ text, isAlarming });
  }
}

/** Worktree outcomes that leave no work on a branch. */
const MERGED_OUTCOMES: ReadonlySet<string> = new Set(['unchanged', 'merged']);

/** A wave is all agents from the first start until no agent runs. */
const newWave = (calls: Set<string> = new Set()) => ({
  size: 0,
  done: 0,
  failed: 0,
  retries: 0,
  turns: 0,
  tenth: 0,
  cost: 0 as number | null,
  calls,
});

const afterBatch = (flush: () => void): void => {
  setTimeout(flush, BATCH_MS).unref();
};

/** Returns the type with the name or short id: `explorer a_3f2a9c`. */
export const agentName = ({ id, type, name }: AgentTag): string =>
  shown([type ?? 'fork', name ?? id.slice(0, SHORT_ID_LENGTH)].join(' '), MAX_TEXT_LENGTH);

/** Returns the start of a worker's name, which is unique. */
export const workerName = (worker: string): string =>
  shown(worker.split('.')[0] ?? '', MAX_TEXT_LENGTH);

export const waitingText = (agents: readonly AgentTag[]): string => {
  const names = agents.slice(0, MAX_LISTED_AGENTS).map(agentName);
  const more = agents.length - names.length;
  const list = [...names, ...(more > 0 ? [`${formatNumber(more)} more`] : [])].join(', ');
  return `Waiting for ${plural(agents.length, 'background agent')}: ${list}.`;
};

const purpose = ({ description }: AgentTag): string => shown(description, MAX_TEXT_LENGTH);

const indentOf = ({ depth }: AgentTag): string => '  '.repeat(Math.min(depth, 4));

const shown = (text: string, maxLength: number): string => oneLine(sanitize(text), maxLength);

const countsByType = (agents: readonly AgentTag[]): string => {
  const counts = new Map<string, number>();
  for (const { type } of agents) {
    counts.set(type ?? 'fork', (counts.get(type ?? 'fork') ?? 0) + 1);
  }
  const parts = [...counts].map(([type, agentCount]) =>
    plural(agentCount, shown(type, MAX_TEXT_LENGTH)),
  );
  const [last = '', ...others] = parts.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
};

const costText = (cost: number | null): string =>
  cost === null ? 'cost unknown' : formatMoney(cost);

const sum = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b;

/** Returns the verbose line of a child's feed item; undefined for other items. */
const innerText = (item: FeedItem): string | undefined => {
  if (item.type === 'tool.started') return redact(item.description);
  if (item.type === 'call.denied') return `${item.denial.tool} was denied: ${item.denial.reason}`;
  if (item.type === 'attempt.discarded') return `the attempt failed: ${item.reason}`;
  return item.type === 'notice' && item.retry === undefined ? item.text : undefined;
};

const previewText = ({
  count,
  model,
  withCache,
  withoutCache,
}: Extract<FeedItem, { type: 'fan-out.previewed' }>['preview']): string => {
  const agents = `${plural(count, 'agent')} on ${shown(model, MAX_TEXT_LENGTH)}`;
  if (withCache === null || withoutCache === null) {
    return `${agents}: cost unknown, because a model has no known price.`;
  }
  const range = ([min, max]: readonly [number, number]) =>
    `${formatMoney(min)} to ${formatMoney(max)}`;
  return `${agents}: ${range(withCache)} with the cache, ${range(withoutCache)} without.`;
};
