/**
 * What people see of agents that work for others: that they began, how they ended and what they took,
 * in short lines. Many at once are told of together, so that a hundred of them stay readable.
 */
import { redact } from '../../policy/redaction/redaction.js';
import {
  type AgentTag,
  type ChildReport,
  isWaitedFor,
  outcomeOf,
} from '../../protocol/agent/swarm.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { count, money, plural } from '../text/format-numbers.js';
import { oneLine, sanitize } from '../text/sanitize.js';

/** What happens within this time is told of together. */
const GATHERED_MS = 150;
/** So many at a time have a line each. */
const FEW = 3;
/** A wave of more agents than this is told of in tenths. */
const SMALL_WAVE = 10;
/** Of one wave; how many more there were is in the count. */
const MOST_FAILURES = 5;
const LONGEST = 100;
const SHORT_ID = 8;

export interface SwarmLine {
  readonly text: string;
  readonly isAlarming: boolean;
}

export interface SwarmLinesOptions {
  readonly show: (line: SwarmLine) => void;
  /** Also what they do, call by call. */
  readonly isVerbose: boolean;
  readonly later?: (work: () => void) => void;
}

type Spawned = Extract<FeedItem, { type: 'agent.spawned' }>;

export class SwarmLines {
  private readonly options: SwarmLinesOptions;
  private readonly live = new Map<string, AgentTag>();
  private begun: Spawned[] = [];
  private ended: ChildReport[] = [];
  private isDue = false;
  private wave = newWave();

  constructor(options: SwarmLinesOptions) {
    this.options = options;
  }

  take(item: FeedItem): void {
    if (item.type === 'agent.spawned') this.begin(item);
    else if (item.type === 'agent.ended' || item.type === 'agent.rested') this.end(item.report);
    else if (item.type === 'agent.feed') this.hear(item.agent, item.item);
    else if (item.type === 'fan-out.previewed') this.say(`(${previewText(item.preview)})`);
  }

  /** An agent was started by this call, so its beginning and its end are told of already. */
  knows(call: string): boolean {
    return this.wave.calls.has(call);
  }

  /** How people call an agent; undefined for one that nobody has heard of, such as the lead. */
  nameOf(id: string): string | undefined {
    const agent = this.live.get(id);
    return agent === undefined ? undefined : agentName(agent);
  }

  /** Whom it works for, and on what. */
  purposeOf(id: string): string | undefined {
    const agent = this.live.get(id);
    if (agent === undefined) return undefined;
    return `${this.aboveOf(agent).join(' → ')}, ${agent.description}`;
  }

  /** All whom it works for, the leader first. What files say of parents may go in circles. */
  private aboveOf({ parent, depth }: AgentTag): readonly string[] {
    const next = this.live.get(parent);
    if (next === undefined || next.depth >= depth) return ['the leader'];
    return [...this.aboveOf(next), agentName(next)];
  }

  /** Those that nobody waits for with a call. */
  background(): readonly AgentTag[] {
    return [...this.live.values()].filter(({ kind }) => !isWaitedFor(kind));
  }

  /** Tells at once what has been gathered; before anything else is told. */
  flush(): void {
    const { begun, ended } = this;
    [this.begun, this.ended] = [[], []];
    this.tellBegun(begun);
    this.tellEnded(ended);
    if (this.live.size === 0) this.wave = newWave(this.wave.calls);
  }

  private begin(item: Spawned): void {
    const { agent } = item;
    if (!this.live.has(agent.id)) this.wave.size += 1;
    this.live.set(agent.id, agent);
    this.wave.calls.add(agent.call);
    this.begun.push(item);
    this.soon();
  }

  private end(report: ChildReport): void {
    // The end of a teammate that rested tells nothing new.
    const isKnown = this.live.delete(report.agent.id);
    if (!isKnown && report.agent.kind === 'teammate') return;
    this.ended.push(report);
    this.soon();
  }

  private hear(agent: AgentTag, item: FeedItem): void {
    // After a crash an agent goes on that nobody has announced here.
    if (!this.live.has(agent.id)) {
      this.live.set(agent.id, agent);
      this.wave.size += 1;
    }
    if (!this.options.isVerbose) return;
    const text = innerText(item);
    if (text === undefined) return;
    this.flush();
    this.say(`${indentOf(agent)}  ${agentName(agent)}: ${shown(text, LONGEST)}`);
  }

  private soon(): void {
    if (this.isDue) return;
    this.isDue = true;
    const { later = afterAWhile } = this.options;
    later(() => {
      this.isDue = false;
      this.flush();
    });
  }

  private tellBegun(items: readonly Spawned[]): void {
    if (items.length <= FEW) {
      for (const { agent, isQueued } of items) {
        const word = isQueued ? 'waits for a place' : 'started';
        this.say(`${indentOf(agent)}${agentName(agent)} ${word}: ${purpose(agent)}`);
      }
      return;
    }
    const queued = items.filter(({ isQueued }) => isQueued).length;
    const waiting = queued === 0 ? '' : `, ${count(queued)} of them wait for a place`;
    this.say(`  ${byType(items.map(({ agent }) => agent))} started${waiting}`);
  }

  private tellEnded(reports: readonly ChildReport[]): void {
    const { wave } = this;
    const isSmall = wave.size <= SMALL_WAVE && reports.length <= FEW;
    for (const report of reports) {
      const isFailure = outcomeOf(report.stop) !== 'completed';
      wave.done += 1;
      wave.turns += report.turns;
      // What an agent cost holds what its own agents cost.
      if (report.agent.depth === 1) wave.cost = sum(wave.cost, report.cost);
      if (isFailure) wave.failed += 1;
      if (isSmall || (isFailure && wave.failed <= MOST_FAILURES)) this.sayEnd(report, isFailure);
    }
    if (isSmall || reports.length === 0) return;
    const tenth = Math.floor((wave.done * 10) / wave.size);
    if (tenth === wave.tenth && this.live.size > 0) return;
    wave.tenth = tenth;
    const failed = wave.failed === 0 ? '' : `, ${count(wave.failed)} of them failed`;
    const took = `${plural(wave.turns, 'turn')}, ${costText(wave.cost)}`;
    this.say(`  ${count(wave.done)} of ${plural(wave.size, 'agent')} done${failed}; ${took}`);
  }

  private sayEnd(report: ChildReport, isAlarming: boolean): void {
    const { agent, stop, turns, cost, changedFiles, worktree } = report;
    const outcome = outcomeOf(stop);
    const isResting = agent.kind === 'teammate' && stop.detail === null;
    const done = isResting ? 'rests' : 'done';
    const word = outcome === 'completed' ? done : `${outcome} (${stop.reason})`;
    const why = stop.detail === null ? '' : `: ${shown(stop.detail, LONGEST)}`;
    const files =
      changedFiles.length === 0 ? '' : `, ${plural(changedFiles.length, 'file')} changed`;
    const isHome = worktree === undefined || HOME.has(worktree.outcome.kind);
    const home = isHome ? '' : `, not merged: it is on the branch ${worktree.branch}`;
    const took = `${plural(turns, 'turn')}, ${costText(cost)}${files}${home}`;
    this.say(`${indentOf(agent)}${agentName(agent)} ${word}, ${took}${why}`, isAlarming);
  }

  private say(text: string, isAlarming = false): void {
    this.options.show({ text, isAlarming });
  }
}

/** What became of work that nobody has to look after. */
const HOME: ReadonlySet<string> = new Set(['unchanged', 'merged']);

/** As many as work at the same time, until none does any more. */
const newWave = (calls: Set<string> = new Set()) => ({
  size: 0,
  done: 0,
  failed: 0,
  turns: 0,
  tenth: 0,
  cost: 0 as number | null,
  calls,
});

const afterAWhile = (work: () => void): void => {
  setTimeout(work, GATHERED_MS).unref();
};

/** `explorer a_3f2a9c`, or by the name that it was given. */
export const agentName = ({ id, type, name }: AgentTag): string =>
  shown([type ?? 'fork', name ?? id.slice(0, SHORT_ID)].join(' '), LONGEST);

export const waitingText = (agents: readonly AgentTag[]): string => {
  const names = agents.slice(0, FEW).map(agentName);
  const more = agents.length - names.length;
  const list = [...names, ...(more > 0 ? [`${count(more)} more`] : [])].join(', ');
  return `Waiting for ${plural(agents.length, 'background agent')}: ${list}.`;
};

const purpose = ({ description }: AgentTag): string => shown(description, LONGEST);

const indentOf = ({ depth }: AgentTag): string => '  '.repeat(Math.min(depth, 4));

const shown = (text: string, longest: number): string => oneLine(sanitize(text), longest);

const byType = (agents: readonly AgentTag[]): string => {
  const counts = new Map<string, number>();
  for (const { type } of agents) {
    counts.set(type ?? 'fork', (counts.get(type ?? 'fork') ?? 0) + 1);
  }
  const parts = [...counts].map(([type, many]) => plural(many, shown(type, LONGEST)));
  const [last = '', ...others] = parts.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
};

const costText = (cost: number | null): string => (cost === null ? 'cost unknown' : money(cost));

const sum = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b;

/** What an agent does, for those who want to see it. */
const innerText = (item: FeedItem): string | undefined => {
  if (item.type === 'tool.started') return redact(item.description);
  if (item.type === 'call.denied') return `${item.denial.tool} was denied: ${item.denial.reason}`;
  if (item.type === 'attempt.discarded') return `the attempt failed: ${item.reason}`;
  return item.type === 'notice' ? item.text : undefined;
};

const previewText = ({
  count: many,
  model,
  withCache,
  withoutCache,
}: Extract<FeedItem, { type: 'fan-out.previewed' }>['preview']): string => {
  const who = `${plural(many, 'agent')} on ${shown(model, LONGEST)}`;
  if (withCache === null || withoutCache === null) {
    return `${who}: what they may cost is unknown, because the price of a model is.`;
  }
  const range = ([least, most]: readonly [number, number]) => `${money(least)} to ${money(most)}`;
  return `${who}: ${range(withCache)} with the cache, ${range(withoutCache)} without.`;
};
