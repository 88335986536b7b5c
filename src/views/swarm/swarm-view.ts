/** Swarms as their stores tell them: looked at once, and the agent that somebody means. */
import { SkeinError, UsageError } from '../../protocol/errors.js';
import type { LeaseHolder } from '../../protocol/session/leases.js';
import type { SessionMeta } from '../../protocol/session/store.js';
import type { AgentView } from './agent-view.js';
import { type SwarmSource, withCachedJobs } from './cached-job-list.js';
import type { BudgetLeft } from './swarm-budget.js';
import { SwarmFold } from './swarm-fold.js';
import type { Pace } from './swarm-throughput.js';

export type { AgentView } from './agent-view.js';

export interface SwarmView {
  readonly session: SessionMeta;
  readonly holder: LeaseHolder | undefined;
  /** How many workers live; left out where the process of the lead does it all. */
  readonly workers?: number;
  /** The lead first, each followed by those that work for it. */
  readonly agents: readonly AgentView[];
  /** What is left to spend; left out where nobody has looked. */
  readonly budget?: BudgetLeft;
  /** How fast it works, asked with the time; it goes on with the swarm. */
  readonly pace?: Pick<Pace, 'at'>;
}

/** Of one session; who holds it is asked first, so that nobody is called lost who has just ended. */
export const viewOfSwarm = async (store: SwarmSource, session: SessionMeta): Promise<SwarmView> => {
  const holder = await store.holder(session.id);
  const jobs = store.jobs.own === undefined ? await store.jobs.list(session.id) : [];
  const fold = new SwarmFold(session.lead);
  for await (const event of store.events(session.id)) fold.take(event);
  const workers = await store.jobs.workers?.();
  return {
    session,
    holder,
    agents: fold.agents(holder !== undefined, jobs),
    budget: fold.budget,
    pace: fold.pace,
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
  const source = withCachedJobs(store);
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
