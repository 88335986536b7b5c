/** The registry of all agents of a session except the lead, by id: identity, status and report. */
import { spendingOf } from '../../context/budget/event-spending.js';
import { Spending } from '../../context/budget/spending.js';
import type { ChildEffect } from '../../machines/child-event.js';
import { childMachine } from '../../machines/child-machine.js';
import { MachineState } from '../../machines/machine-state.js';
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
import { AgentRefusal, type ChildStatus, type ChildView } from '../../protocol/agent/agents.js';
import type { ChildReport } from '../../protocol/agent/child-report.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { agentOrigin } from '../../protocol/session/swarm-records.js';
import { SkeinError } from '../../protocol/skein-error.js';
import type { ChildNode } from './agent-node.js';

type ChildLife = MachineState<typeof childMachine, ChildEffect>;

export interface AgentEntry {
  readonly tag: AgentTag;
  status: ChildStatus;
  /** Node of the agent while this process runs it. */
  child: ChildNode | undefined;
  /** Report of an ended or idle agent, if it is in memory. */
  report: ChildReport | undefined;
  /** Number of the last journaled run of an agent that does not run. */
  run: number;
  /** Number of the last record that is counted in `spent`. */
  counted: number;
  /** Spending of the agent without its descendants. */
  spent: Spending;
  /** Turns by the event index, for an agent that another process runs. */
  turns: number;
  /** Files that the agent changed. Undefined if only its journal knows all of them. */
  changedFiles: ReadonlySet<string> | undefined;
  /** True if a call of the parent waits for the agent. Else the parent gets the report as a letter. */
  isAwaited: boolean;
  lastActive: number;
  /** State of the life of a child that this process runs or ran. */
  life: ChildLife | undefined;
  /** Called with the report when the agent ends or becomes idle. */
  readonly listeners: Set<(report: ChildReport) => void>;
}

/** True if the agent runs, is queued or is idle. */
export const isPresent = (entry: AgentEntry): boolean => isLive(entry) || entry.status === 'idle';

export const isLive = ({ status }: AgentEntry): boolean =>
  status === 'running' || status === 'queued';

/** Maximum characters of reports in memory. Older reports are read from journals again. */
const MAX_REPORT_CHARACTERS = 8_000_000;

export class AgentRegistry {
  /** Session rules that people granted to agents of earlier processes. */
  readonly grantedRules = new Set<string>();
  /** Numbers of lost records, by agent, that no lead has told people of. */
  readonly untoldLosses = new Map<string, number>();
  private readonly entries = new Map<string, AgentEntry>();
  private readonly childIds = new Map<string, Set<string>>();
  /** Lengths of the reports in memory, oldest first. */
  private readonly lengths = new Map<string, number>();
  private reportCharacters = 0;
  /** Names of teammates that are about to start. */
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
      life: undefined,
      listeners: new Set(),
    };
    this.entries.set(tag.id, entry);
    const siblings = this.childIds.get(tag.parent) ?? new Set();
    this.childIds.set(tag.parent, siblings.add(tag.id));
    return entry;
  }

  get(id: string): AgentEntry | undefined {
    return this.entries.get(id);
  }

  all(): Iterable<AgentEntry> {
    return this.entries.values();
  }

  childrenOf(id: string): readonly AgentEntry[] {
    return [...(this.childIds.get(id) ?? [])].flatMap((child) => this.entries.get(child) ?? []);
  }

  /**
   * Returns the entry of the parent. Returns undefined for a child of the lead. Parent ids come from disk and may
   * form a cycle, so a parent that is not above its child counts as missing.
   */
  parentOf({ tag }: AgentEntry): AgentEntry | undefined {
    const parent = this.entries.get(tag.parent);
    return parent !== undefined && parent.tag.depth < tag.depth ? parent : undefined;
  }

  /** True if `id` is an ancestor of the agent. */
  isBelow(entry: AgentEntry, id: string): boolean {
    for (
      let current: AgentEntry | undefined = entry;
      current !== undefined;
      current = this.parentOf(current)
    ) {
      if (current.tag.parent === id) return true;
    }
    return false;
  }

  /** Keeps the report in memory while there is room. */
  keepReport(entry: AgentEntry, report: ChildReport): void {
    entry.report = report;
    const { id } = entry.tag;
    const { length } = report.text;
    this.reportCharacters += length - (this.lengths.get(id) ?? 0);
    this.lengths.delete(id);
    for (const [oldest, freed] of this.lengths) {
      if (this.reportCharacters <= MAX_REPORT_CHARACTERS) break;
      this.reportCharacters -= freed;
      this.lengths.delete(oldest);
      const old = this.entries.get(oldest);
      if (old !== undefined) old.report = undefined;
    }
    this.lengths.set(id, length);
  }

  /** Returns the agents with this id, name or id prefix for which `isCandidate` is true. */
  find(
    address: string,
    isCandidate: (entry: AgentEntry) => boolean = () => true,
  ): readonly AgentEntry[] {
    const exact = this.entries.get(address);
    if (exact !== undefined && isCandidate(exact)) return [exact];
    if (address === '') return [];
    const candidates = [...this.entries.values()].filter(isCandidate);
    const named = candidates.filter(({ tag }) => tag.name === address);
    if (named.length > 0) return preferredNamesakes(named);
    return candidates.filter(
      ({ tag }) => tag.id.startsWith(address) || tag.id.startsWith(`a_${address}`),
    );
  }

  /**
   * Reserves the name of a teammate that is about to start, until the returned function is called. Throws
   * AgentRefusal if another present agent has the name.
   */
  reserve(name: string): () => void {
    this.refuseTaken(name);
    const namesake = [...this.entries.values()].find(
      (entry) => entry.tag.name === name && isPresent(entry),
    );
    if (namesake !== undefined) {
      throw new AgentRefusal(
        `The agent ${namesake.tag.id} has the name ${JSON.stringify(name)} (${namesake.status}). Choose another name.`,
      );
    }
    this.reserved.add(name);
    return () => this.reserved.delete(name);
  }

  /** Throws AgentRefusal if a teammate has the name, because letters to it must not reach another agent. */
  refuseTaken(name: string): void {
    const isNamed = ({ tag }: AgentEntry) => tag.kind === 'teammate' && tag.name === name;
    const status = [...this.entries.values()].find(isNamed)?.status;
    if (status === undefined && !this.reserved.has(name)) return;
    throw new AgentRefusal(
      `There is a teammate ${JSON.stringify(name)} already (${status ?? 'about to start'}). Write to it with SendMessage, or choose another name.`,
    );
  }

  /** Loads the agents of earlier processes from the event index. */
  async loadIndex(store: Pick<SessionStore, 'events'>, session: string): Promise<void> {
    try {
      for await (const event of store.events(session)) this.take(event);
    } catch (error) {
      // The commands that show the index report a damaged index. The journals hold the same facts.
      if (!(error instanceof SkeinError)) throw error;
    }
  }

  /**
   * Applies an event of an agent that another process runs. If `isFollowed`, its end is ignored here, because
   * a letter reports the end to the parent.
   */
  observe(event: SwarmEvent, isFollowed: boolean): void {
    const existing = this.entries.get(event.agent);
    if (existing !== undefined && event.cites.seq <= existing.counted) return;
    if (existing?.child !== undefined || (isFollowed && event.type === 'agent.stopped')) return;
    const previousStatus = existing?.status;
    this.take(event);
    const entry = this.entries.get(event.agent);
    if (entry === undefined) return;
    entry.lastActive = event.ts;
    if (existing === undefined) entry.status = 'queued';
    else if (event.type === 'turn.started' && previousStatus === 'queued') entry.status = 'running';
    else if (isFollowed) entry.status = previousStatus ?? entry.status;
    // Another process runs the agent.
    else if (entry.status === 'lost') entry.status = 'running';
  }

  private take(event: SwarmEvent): void {
    const { agent, parent } = event;
    if (typeof event.granted === 'string' && event.by !== 'hook')
      this.grantedRules.add(event.granted);
    if (parent === null && LEAD_WORKS.has(event.type)) this.untoldLosses.clear();
    else if (event.type === 'records.lost') this.untoldLosses.set(agent, Number(event.lost));
    const entry = this.entries.get(agent);
    if (event.type === 'agent.spawned' && parent !== null && entry === undefined) {
      const parsed = agentOrigin.safeParse(event.origin);
      if (parsed.success) this.add(tagOf(agent, parent, parsed.data), 'lost', event.ts);
    } else if (entry !== undefined && event.type === 'run.started') {
      entry.status = 'lost';
      entry.run = Number(event.run);
    } else if (entry?.tag.kind === 'teammate' && event.type === 'run.ended') {
      entry.status = 'idle';
    } else if (entry !== undefined && !isLive(entry) && callsBack(event)) {
      // No process has resumed the agent yet.
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

/** Events of a lead that runs, so that its process has told people of the losses before. */
const LEAD_WORKS: ReadonlySet<string> = new Set(['letter.delivered', 'turn.ended', 'run.ended']);

/** True for an event that resumes an idle or ended agent. A worker that names itself has refused the job. */
const callsBack = ({ type, worker }: SwarmEvent): boolean =>
  type === 'letter.delivered' || (type === 'agent.queued' && typeof worker !== 'string');

/** A teammate owns its name in every state. Among other agents, present agents come before ended agents. */
const preferredNamesakes = (named: readonly AgentEntry[]): readonly AgentEntry[] => {
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

/** Returns the view of an agent for its ancestor `asker`. */
export const childViewOf = (entry: AgentEntry, asker: string): ChildView => {
  const { tag, status, child, report, run, spent, turns } = entry;
  return {
    agent: tag,
    status,
    state: child?.agent?.state ?? REMOTE_STATE,
    turns: child?.deps.journal.history.turns ?? report?.turns ?? turns,
    cost: child === undefined ? (report ?? spent).cost : child.subtreeSpending.cost,
    ...(report !== undefined && child === undefined && { report }),
    ...(report !== undefined && tag.parent === asker && { letter: reportLetterId(tag.id, run) }),
  };
};

/** State of an agent in another process. */
const REMOTE_STATE = 'on a worker';

/** Returns the id of the letter that reports a run. The same for every process, so the letter arrives once. */
export const reportLetterId = (id: string, run: number): string => `r_${id}_${run}`;

/** Returns a new life of the child, in the state that its status shows. */
export const lifeOf = ({ status }: AgentEntry, staysIdle: boolean): ChildLife =>
  new MachineState(childMachine, { status, staysIdle });
