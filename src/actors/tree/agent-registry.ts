/** All agents that ever worked in a session, the lead aside: who they are, and what became of them. */
import { spendingOf } from '../../context/budget/event-spending.js';
import { Spending } from '../../context/budget/spending.js';
import type { Stop } from '../../protocol/agent/agent.js';
import {
  type AgentTag,
  type ChildReport,
  type ChildStatus,
  type ChildView,
  SpawnRefusal,
} from '../../protocol/agent/swarm.js';
import { SkeinError } from '../../protocol/errors.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { origin } from '../../protocol/session/swarm-records.js';
import { letterOf } from '../messages/report-letter.js';
import type { ChildNode } from './agent-node.js';

export interface AgentEntry {
  readonly tag: AgentTag;
  status: ChildStatus;
  /** While it is at work, or waits for a place. */
  child: ChildNode | undefined;
  /** Of one that has ended, while it is at hand. */
  report: ChildReport | undefined;
  /** The last run that is on record of one that is not at work. */
  run: number;
  /** The last record of it that is counted in what it has used up. */
  counted: number;
  /** What it has used up itself. */
  spent: Spending;
  /** Turns that the index tells of, where another process works on it. */
  turns: number;
  /** By it, as far as is known; undefined where its journal has more. */
  changedFiles: ReadonlySet<string> | undefined;
  /** A call of its parent waits for it; else its parent is told in a letter. */
  isAwaited: boolean;
  lastActive: number;
  /** It works no more, and what it leaves is being put away. */
  isEnding: boolean;
  /** Why a teammate that still works will not rest but end. */
  halting: Stop | undefined;
  /** Somebody wants to hear of its end. */
  readonly listeners: Set<(report: ChildReport) => void>;
}

/** It is at work, or waits for a place or for letters. */
export const isPresent = (entry: AgentEntry): boolean => isLive(entry) || entry.status === 'idle';

export const isLive = ({ status }: AgentEntry): boolean =>
  status === 'running' || status === 'queued';

/** So many characters of reports are kept at hand; older ones are read from journals again. */
const MOST_REPORTED = 8_000_000;

export class AgentRegistry {
  /** What people have allowed agents of a former process for the session. */
  readonly grants = new Set<string>();
  private readonly entries = new Map<string, AgentEntry>();
  private readonly below = new Map<string, Set<string>>();
  /** How long the reports are that are at hand, the oldest first. */
  private readonly lengths = new Map<string, number>();
  private reported = 0;
  /** Names of teammates that are about to begin. */
  private readonly reserved = new Set<string>();

  add(tag: AgentTag, status: ChildStatus, now: number): AgentEntry {
    const entry: AgentEntry = {
      tag,
      status,
      child: undefined,
      report: undefined,
      isAwaited: false,
      lastActive: now,
      run: 0,
      counted: 0,
      spent: new Spending(),
      turns: 0,
      changedFiles: new Set<string>(),
      isEnding: false,
      halting: undefined,
      listeners: new Set(),
    };
    this.entries.set(tag.id, entry);
    const siblings = this.below.get(tag.parent) ?? new Set();
    this.below.set(tag.parent, siblings.add(tag.id));
    return entry;
  }

  get(id: string): AgentEntry | undefined {
    return this.entries.get(id);
  }

  all(): Iterable<AgentEntry> {
    return this.entries.values();
  }

  childrenOf(id: string): readonly AgentEntry[] {
    return [...(this.below.get(id) ?? [])].flatMap((child) => this.entries.get(child) ?? []);
  }

  isBelow(entry: AgentEntry, id: string): boolean {
    const { parent } = entry.tag;
    if (parent === id) return true;
    const above = this.entries.get(parent);
    // What files say of parents may go in circles.
    const isAbove = above !== undefined && above.tag.depth < entry.tag.depth;
    return isAbove && this.isBelow(above, id);
  }

  /** What became of it, for as long as there is room. */
  keep(entry: AgentEntry, report: ChildReport): void {
    entry.report = report;
    const { id } = entry.tag;
    const { length } = report.text;
    this.reported += length - (this.lengths.get(id) ?? 0);
    this.lengths.delete(id);
    for (const [oldest, freed] of this.lengths) {
      if (this.reported <= MOST_REPORTED) break;
      this.reported -= freed;
      this.lengths.delete(oldest);
      const old = this.entries.get(oldest);
      if (old !== undefined) old.report = undefined;
    }
    this.lengths.set(id, length);
  }

  /** By id, by name, or by the beginning of an id: all that fit, of those that are wanted. */
  called(
    address: string,
    isMeant: (entry: AgentEntry) => boolean = () => true,
  ): readonly AgentEntry[] {
    const known = this.entries.get(address);
    if (known !== undefined && isMeant(known)) return [known];
    if (address === '') return [];
    const meant = [...this.entries.values()].filter(isMeant);
    const named = meant.filter(({ tag }) => tag.name === address);
    if (named.length > 0) return namesakes(named);
    return meant.filter(
      ({ tag }) => tag.id.startsWith(address) || tag.id.startsWith(`a_${address}`),
    );
  }

  /**
   * Two teammates with one name could not be told apart. It is kept for one that is about to begin until
   * what this returns is called. Throws a SpawnRefusal, also where somebody else is there under that name.
   */
  reserve(name: string): () => void {
    this.refuseTaken(name);
    const namesake = [...this.entries.values()].find((it) => it.tag.name === name && isPresent(it));
    if (namesake !== undefined) {
      throw new SpawnRefusal(
        `The agent ${namesake.tag.id} is called ${JSON.stringify(name)} (${namesake.status}). Choose another name.`,
      );
    }
    this.reserved.add(name);
    return () => this.reserved.delete(name);
  }

  /** Of an agent of any kind: what is meant for a teammate must not reach another. Throws a SpawnRefusal. */
  refuseTaken(name: string): void {
    const isNamed = ({ tag }: AgentEntry) => tag.kind === 'teammate' && tag.name === name;
    const taken = [...this.entries.values()].find(isNamed)?.status;
    if (taken === undefined && !this.reserved.has(name)) return;
    throw new SpawnRefusal(
      `There is a teammate ${JSON.stringify(name)} already (${taken ?? 'about to begin'}). Write to it with SendMessage, or choose another name.`,
    );
  }

  /** What the index says of agents that worked here before this process. */
  async recall(store: Pick<SessionStore, 'events'>, session: string): Promise<void> {
    try {
      for await (const event of store.events(session)) this.take(event);
    } catch (error) {
      // An index that cannot be read is reported by those who show it; the journals have it all.
      if (!(error instanceof SkeinError)) throw error;
    }
  }

  /**
   * What is new of an agent that another process works on. Of the end of one that works for somebody here
   * a letter tells.
   */
  observe(event: SwarmEvent, isFollowed: boolean): void {
    const known = this.entries.get(event.agent);
    if (known !== undefined && event.cites.seq <= known.counted) return;
    if (known?.child !== undefined || (isFollowed && event.type === 'agent.stopped')) return;
    const before = known?.status;
    this.take(event);
    const entry = this.entries.get(event.agent);
    if (entry === undefined) return;
    entry.lastActive = event.ts;
    if (known === undefined) entry.status = 'queued';
    else if (event.type === 'turn.started' && before === 'queued') entry.status = 'running';
    else if (isFollowed) entry.status = before ?? entry.status;
    // Somebody has it.
    else if (entry.status === 'lost') entry.status = 'running';
  }

  private take(event: SwarmEvent): void {
    const { agent, parent } = event;
    if (typeof event.granted === 'string' && event.by !== 'hook') this.grants.add(event.granted);
    const entry = this.entries.get(agent);
    if (event.type === 'agent.spawned' && parent !== null && entry === undefined) {
      const read = origin.safeParse(event.origin);
      if (read.success) this.add(tagOf(agent, parent, read.data), 'lost', event.ts);
    } else if (entry !== undefined && event.type === 'run.started') {
      entry.status = 'lost';
      entry.run = Number(event.run);
    } else if (entry?.tag.kind === 'teammate' && event.type === 'run.ended') {
      entry.status = 'idle';
    } else if (entry !== undefined && !isLive(entry) && callsBack(event)) {
      // Nobody has begun it yet, or has read it.
      entry.status = 'lost';
    } else if (entry !== undefined && event.type === 'agent.stopped') {
      entry.status = event.reason === 'stopped' ? 'stopped' : 'ended';
    } else if (entry !== undefined && event.type === 'files.changed') {
      entry.changedFiles = undefined;
    }
    if (entry === undefined) return;
    entry.counted = event.cites.seq;
    const spent = spendingOf(event);
    if (spent !== undefined) entry.spent.count(spent);
    if (event.type === 'turn.ended') entry.turns += 1;
  }
}

/** What comes to one that rests or has ended when it is to go on; a worker that names itself only refuses it. */
const callsBack = ({ type, worker }: SwarmEvent): boolean =>
  type === 'letter.delivered' || (type === 'agent.queued' && typeof worker !== 'string');

/** A teammate owns its name, whatever it does now. Of others those that are there go before those that have ended. */
const namesakes = (named: readonly AgentEntry[]): readonly AgentEntry[] => {
  const owner = named.find(({ tag }) => tag.kind === 'teammate');
  if (owner !== undefined) return [owner];
  const present = named.filter(isPresent);
  return present.length > 0 ? present : named.slice(-1);
};

export const tagOf = (
  id: string,
  parent: string,
  { kind, type, name, team, description, call, depth, color }: ChildNode['origin'],
): AgentTag => ({
  id,
  parent,
  kind,
  type,
  description,
  call,
  depth,
  ...(name !== undefined && { name }),
  ...(team !== undefined && { team }),
  ...(color !== undefined && { color }),
});

/** As one sees it that it works for, directly or not. */
export const viewOf = (entry: AgentEntry, asker: string): ChildView => {
  const { tag, status, child, report, run, spent, turns } = entry;
  return {
    agent: tag,
    status,
    state: child?.agent?.state ?? ELSEWHERE,
    turns: child?.deps.notebook.history.turns ?? report?.turns ?? turns,
    cost: child === undefined ? (report ?? spent).cost : child.tree.cost,
    ...(report !== undefined && child === undefined && { report }),
    ...(report !== undefined && tag.parent === asker && { letter: letterOf(tag.id, run) }),
  };
};

/** What its machine does is not seen from here. */
const ELSEWHERE = 'on a worker';
