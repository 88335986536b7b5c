/**
 * A swarm as a tree of agents, folded from its events. What it says of now is true: `running` needs
 * the live lease of a process, and an agent that has not ended without one is `lost` (law 11). One that
 * workers take runs while a worker has it, with all that work for it, and is queued until then.
 */
import { SkeinError, UsageError } from '../protocol/errors.js';
import type { SwarmEvent } from '../protocol/events.js';
import type { ListedJob } from '../protocol/job-queue.js';
import type { LeaseHolder } from '../protocol/leases.js';
import type { WaitReason } from '../protocol/queueing.js';
import type { SessionMeta } from '../protocol/store.js';
import type { ChildKind, ChildStatus } from '../protocol/swarm.js';
import { windowTokens } from '../protocol/usage.js';
import { AgentFold, type SeenCall, type SeenQuestion, type SeenState } from './agent-fold.js';
import { atAGlance, type SwarmSource } from './job-glance.js';

export interface AgentView {
  readonly id: string;
  readonly name: string | null;
  readonly kind: 'lead' | ChildKind;
  /** Its definition; null for the lead and for a fork. */
  readonly type: string | null;
  readonly parent: string | null;
  readonly depth: number;
  readonly description: string;
  readonly model: string | null;
  readonly status: ChildStatus;
  readonly state: SeenState | 'lost';
  /** What its next request waits for; null unless its state is `waiting`. */
  readonly waitsFor: WaitReason | null;
  /** The worker that has it, or the one that it works for; null where the process of its lead does. */
  readonly worker: string | null;
  /** Why the worker that was given it last could not work on it; null unless its status is `queued`. */
  readonly refusal: string | null;
  /** It was at work on a worker that is gone, and waits for another one. */
  readonly hasLostWorker: boolean;
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of everything that was read; null before the first answer. */
  readonly cacheReadPercent: number | null;
  /** USD, of its own requests; null when a price is not known. */
  readonly costUsd: number | null;
  readonly calls: readonly SeenCall[];
  readonly questions: readonly SeenQuestion[];
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly lastActiveAt: number;
  readonly endedAt: number | null;
  /** How its last run ended, while no other is under way. */
  readonly stop: { readonly reason: string; readonly detail: string | null } | null;
}

export interface SwarmView {
  readonly session: SessionMeta;
  readonly holder: LeaseHolder | undefined;
  /** How many workers live; left out where the process of the lead does it all. */
  readonly workers?: number;
  /** The lead first, each followed by those that work for it. */
  readonly agents: readonly AgentView[];
}

export class SwarmFold {
  readonly #lead: string;
  readonly #agents = new Map<string, AgentFold>();
  /** Of the lead: how often a process has taken the session. */
  #takings = 0;
  /** When each was last heard of, in takings. */
  readonly #heard = new Map<string, number>();

  constructor(lead: string) {
    this.#lead = lead;
  }

  take(event: SwarmEvent): void {
    if (event.agent === this.#lead && event.type === 'epoch.began') this.#takings += 1;
    const agent = this.#agentOf(event.agent, event.parent, event.ts);
    this.#heard.set(event.agent, this.#takings);
    agent.take(event);
    if (event.type !== 'agent.requested' || typeof event.child !== 'string') return;
    if (this.#agents.has(event.child)) return;
    this.#heard.set(event.child, this.#takings);
    const child = this.#agentOf(event.child, event.agent, event.ts);
    child.request(event, agent.identity.depth + 1);
  }

  /** `jobs`: those that workers take or have taken; none where the lead's process does it all. */
  agents(isLive: boolean, jobs: readonly ListedJob[] = []): readonly AgentView[] {
    const worked = new Map(jobs.map(({ id, worker = null }) => [id, worker]));
    // Parents come first, and whoever works for one is where that one is.
    return this.#inOrder().map((agent) => {
      const own = worked.get(agent.id);
      const worker = own === undefined ? worked.get(agent.parent ?? '') : own;
      if (worker !== undefined) worked.set(agent.id, worker);
      return this.#viewOf(agent, isLive, worker);
    });
  }

  #agentOf(id: string, parent: string | null, ts: number): AgentFold {
    const known = this.#agents.get(id);
    if (known !== undefined) return known;
    const fresh = new AgentFold(id, id === this.#lead ? null : parent, ts);
    this.#agents.set(id, fresh);
    return fresh;
  }

  /** Without recursion: nobody says how deep a tree is that somebody else wrote. */
  #inOrder(): readonly AgentFold[] {
    const below = new Map<string | null, AgentFold[]>();
    for (const agent of this.#agents.values()) {
      const parent = this.#agents.has(agent.parent ?? '') ? agent.parent : null;
      const siblings = below.get(parent);
      if (siblings === undefined) below.set(parent, [agent]);
      else siblings.push(agent);
    }
    const ordered: AgentFold[] = [];
    const waiting = (below.get(null) ?? []).toReversed();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      ordered.push(next);
      for (const child of (below.get(next.id) ?? []).toReversed()) waiting.push(child);
    }
    if (ordered.length === this.#agents.size) return ordered;
    // Those whose parents go round in a circle: nobody wrote that but somebody who meant harm.
    const reached = new Set(ordered);
    return [...ordered, ...[...this.#agents.values()].filter((agent) => !reached.has(agent))];
  }

  /** `worker`: null while none has it, undefined for one that none takes. */
  #viewOf(agent: AgentFold, isLive: boolean, worker: string | null | undefined): AgentView {
    const { id, parent, identity, model, turns, usage, cost, since, lastActiveAt } = agent;
    const { name, kind, type, depth, description } = identity;
    const isWorked = worker === undefined ? undefined : worker !== null;
    const status = this.#statusOf(agent, isLive, isWorked);
    const isLeft = status === 'lost' || status === 'queued';
    const isOver = isLeft || status === 'ended' || status === 'stopped';
    const read = windowTokens(usage) - usage.output;
    return {
      ...{ id, name, kind, type, parent, depth, description, model, status },
      state: isLeft ? status : isOver ? 'stopped' : agent.state,
      waitsFor: isOver ? null : agent.waitsFor,
      worker: isOver ? null : (worker ?? null),
      refusal: status === 'queued' ? agent.refusal : null,
      hasLostWorker: status === 'queued' && isWorked === false && agent.state !== 'queued',
      ...{ turns, inputTokens: read, outputTokens: usage.output },
      cacheReadPercent: read === 0 ? null : Math.round((usage.cacheRead / read) * 1_000) / 10,
      costUsd: cost,
      calls: isOver ? [] : [...agent.running.values()],
      questions: isOver ? [] : [...agent.questions.values()],
      ...{ since, lastActiveAt, endedAt: agent.endedAt, stop: agent.stop },
    };
  }

  #statusOf(agent: AgentFold, isLive: boolean, isWorked: boolean | undefined): ChildStatus {
    const isLead = agent.id === this.#lead;
    const isHere = isLive && (isLead || this.#heard.get(agent.id) === this.#takings);
    const isHeld = isWorked ?? isHere;
    if (agent.state === 'stopped') {
      return agent.stop?.reason === 'stopped' ? 'stopped' : 'ended';
    }
    if (isWorked === false) return 'queued';
    const isTeammate = agent.identity.kind === 'teammate';
    if (!isHeld) return (isLead || isTeammate) && agent.isResting ? 'ended' : 'lost';
    if (isTeammate && agent.isResting) return 'idle';
    return agent.state === 'queued' ? 'queued' : 'running';
  }
}

/** Of one session; who holds it is asked first, so that nobody is called lost who has just ended. */
export const viewOfSwarm = async (store: SwarmSource, session: SessionMeta): Promise<SwarmView> => {
  const holder = await store.holder(session.id);
  const jobs = store.jobs.own === undefined ? await store.jobs.list(session.id) : [];
  const fold = new SwarmFold(session.lead);
  for await (const event of store.events(session.id)) fold.take(event);
  const workers = await store.jobs.workers?.();
  return {
    ...{ session, holder, agents: fold.agents(holder !== undefined, jobs) },
    ...(workers !== undefined && { workers: workers.length }),
  };
};

/** Told of a session that cannot be read, and why. */
export type LeaveOut = (session: string, reason: string) => void;

/** Of several: one that cannot be read is told, and does not keep the others from being seen. */
export const viewsOfSwarms = async (
  store: SwarmSource,
  sessions: readonly SessionMeta[],
  leaveOut: LeaveOut,
): Promise<readonly SwarmView[]> => {
  const swarms: SwarmView[] = [];
  const source = atAGlance(store);
  for (const session of sessions) {
    try {
      swarms.push(await viewOfSwarm(source, session));
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      leaveOut(session.id, error.message);
    }
  }
  return swarms;
};

/** How people call it: its name, or what it is. */
export const calledOf = ({ name, kind, type }: AgentView): string => name ?? type ?? kind;

/** What every lead is called by. */
export const LEAD = 'lead';

export interface AgentHit {
  readonly swarm: SwarmView;
  readonly agent: AgentView;
}

/**
 * Those that an address may mean, of the first kind of match that has any: an id, a name (of those
 * that still work before others), a session for its lead, the beginning of an id or of a name.
 */
export const agentsNamed = (swarms: readonly SwarmView[], wanted: string): readonly AgentHit[] => {
  if (wanted === '') return [];
  const all = swarms.flatMap((swarm) => swarm.agents.map((agent) => ({ swarm, agent })));
  const isLead = ({ swarm, agent }: AgentHit) => agent.id === swarm.session.lead;
  const works = ({ agent }: AgentHit) => agent.status === 'running' || agent.status === 'queued';
  const named = all.filter(({ agent }) => agent.name === wanted);
  const attempts = [
    () => all.filter(({ agent }) => agent.id === wanted),
    () => named.filter(works),
    () => named,
    () => all.filter((hit) => isLead(hit) && hit.swarm.session.id === wanted),
    () =>
      all.filter(
        (hit) =>
          hit.agent.id.startsWith(wanted) ||
          hit.agent.name?.startsWith(wanted) === true ||
          (isLead(hit) && (hit.swarm.session.id.startsWith(wanted) || wanted === LEAD)),
      ),
  ];
  for (const attempt of attempts) {
    const found = attempt();
    if (found.length > 0) return found;
  }
  return [];
};

/** The one that is meant. Throws a UsageError with candidates. */
export const agentNamed = (swarms: readonly SwarmView[], wanted: string): AgentHit => {
  const found = agentsNamed(swarms, wanted);
  const [only] = found;
  const shown = wanted.slice(0, 80);
  if (only !== undefined && found.length === 1) return only;
  if (only !== undefined) {
    throw new UsageError(
      `"${shown}" fits ${found.length} agents: ${someOf(found)}. Give more of the id.`,
    );
  }
  const all = swarms.flatMap((swarm) => swarm.agents.map((agent) => ({ swarm, agent })));
  if (all.length === 0) {
    throw new UsageError(
      `There is no agent "${shown}": nothing runs on this machine. \`skein ps --all\` lists what ran.`,
    );
  }
  throw new UsageError(`There is no agent "${shown}". There is ${someOf(all)}.`);
};

const MOST_CANDIDATES = 5;

const someOf = (hits: readonly AgentHit[]): string => {
  const some = hits
    .slice(0, MOST_CANDIDATES)
    .map(({ swarm, agent }) => `${agent.id} (${calledOf(agent)} of ${swarm.session.id})`);
  const more = hits.length - some.length;
  return `${some.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};
