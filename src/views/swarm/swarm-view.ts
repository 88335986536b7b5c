/** View of a swarm read from its store, and lookup of agents by address. */

import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import { isAlive, type LeaseHolder } from '../../protocol/session/leases.js';
import type { SessionMeta } from '../../protocol/session/session-store.js';
import { SkeinError, UsageError } from '../../protocol/skein-error.js';
import type { AgentView } from './agent-view.js';
import { type SwarmReader, withCachedJobs } from './cached-jobs.js';
import type { RemainingBudget } from './swarm-budget.js';
import { SwarmFold } from './swarm-fold.js';
import type { SwarmThroughput } from './swarm-throughput.js';

export type { AgentView } from './agent-view.js';

export interface SwarmView {
  readonly session: SessionMeta;
  readonly holder: LeaseHolder | undefined;
  /** Number of live workers. Left out if the lead's process runs all agents. */
  readonly workers?: number;
  /** In tree order: the lead first, each agent followed by its descendants. */
  readonly agents: readonly AgentView[];
  /** Remaining budget. Left out if unknown. */
  readonly budget?: RemainingBudget;
  /** Current throughput. It follows the swarm after the view was made. */
  readonly throughput?: Pick<SwarmThroughput, 'at'>;
}

/** Reads the holder before the events, so that an agent that has just ended is not shown as lost. */
export const swarmView = async (store: SwarmReader, session: SessionMeta): Promise<SwarmView> => {
  const holder = await store.holder(session.id);
  const jobs = store.jobs.local === undefined ? await store.jobs.list(session.id) : [];
  const fold = new SwarmFold(session.lead);
  for await (const event of store.events(session.id)) fold.take(event);
  const workers = await store.jobs.workers?.();
  return {
    session,
    holder,
    agents: fold.agents(isAlive(holder), jobs),
    budget: fold.budget,
    throughput: fold.throughput,
    ...(workers !== undefined && { workers: workers.length }),
  };
};

/** Called with each session that cannot be read, and the reason. */
export type OnUnreadableSession = (session: string, reason: string) => void;

/** Returns the views of all readable sessions. */
export const swarmViews = async (
  store: SwarmReader,
  sessions: readonly SessionMeta[],
  leaveOut: OnUnreadableSession,
): Promise<readonly SwarmView[]> => {
  const swarms: SwarmView[] = [];
  const source = withCachedJobs(store);
  for (const session of sessions) {
    try {
      swarms.push(await swarmView(source, session));
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      leaveOut(session.id, error.message);
    }
  }
  return swarms;
};

/** Returns the agent's name, else its definition, else its kind. */
export const displayName = ({ name, kind, type }: AgentView): string => name ?? type ?? kind;

export interface AgentHit {
  readonly swarm: SwarmView;
  readonly agent: AgentView;
}

/**
 * Returns all agents that an address matches. Tries in order, until there is a match: an id, a name of
 * a running agent, any name, a session id for its lead, the beginning of an id or a name.
 */
export const findAgents = (swarms: readonly SwarmView[], address: string): readonly AgentHit[] => {
  if (address === '') return [];
  const all = swarms.flatMap((swarm) => swarm.agents.map((agent) => ({ swarm, agent })));
  const isLead = ({ swarm, agent }: AgentHit) => agent.id === swarm.session.lead;
  const works = ({ agent }: AgentHit) => agent.status === 'running' || agent.status === 'queued';
  const named = all.filter(({ agent }) => agent.name === address);
  const attempts = [
    () => all.filter(({ agent }) => agent.id === address),
    () => named.filter(works),
    () => named,
    () => all.filter((hit) => isLead(hit) && hit.swarm.session.id === address),
    () =>
      all.filter(
        (hit) =>
          hit.agent.id.startsWith(address) ||
          hit.agent.name?.startsWith(address) === true ||
          (isLead(hit) && (hit.swarm.session.id.startsWith(address) || address === LEAD_NAME)),
      ),
  ];
  for (const attempt of attempts) {
    const found = attempt();
    if (found.length > 0) return found;
  }
  return [];
};

/** Returns the only agent that an address matches. Throws UsageError with candidates. */
export const findAgent = (swarms: readonly SwarmView[], address: string): AgentHit => {
  const found = findAgents(swarms, address);
  const [first] = found;
  const shown = address.slice(0, 80);
  if (first !== undefined && found.length === 1) return first;
  if (first !== undefined) {
    throw new UsageError(
      `"${shown}" matches ${found.length} agents: ${listText(found)}. Give more of the id.`,
    );
  }
  const all = swarms.flatMap((swarm) => swarm.agents.map((agent) => ({ swarm, agent })));
  if (all.length === 0) {
    throw new UsageError(
      `There is no agent "${shown}": no swarm is running. \`skein ps --all\` also lists ended sessions.`,
    );
  }
  throw new UsageError(`There is no agent "${shown}". There is ${listText(all)}.`);
};

const MAX_CANDIDATES = 5;

const listText = (hits: readonly AgentHit[]): string => {
  const candidates = hits
    .slice(0, MAX_CANDIDATES)
    .map(({ swarm, agent }) => `${agent.id} (${displayName(agent)} of ${swarm.session.id})`);
  const more = hits.length - candidates.length;
  return `${candidates.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};
