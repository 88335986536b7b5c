/** What agents are called in the shared list of work: by names where those are told apart, else by ids. */
import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';
import type { TaskOwnerNames } from './task-list-port.js';

/** `swarm` is asked when it is needed: the lead's equipment is there before its swarm. */
export const workNames = (
  swarm: () => {
    readonly roster: Pick<AgentRegistry, 'get' | 'all'>;
    readonly lead: { readonly id: string };
  },
): TaskOwnerNames => {
  /** The first that has a name keeps it, so that nobody comes to own what another of that name does. */
  const holderOf = (name: string): AgentEntry | undefined =>
    [...swarm().roster.all()].find(({ tag }) => tag.name === name);
  const nameOf = (id: string): string => {
    const { roster, lead } = swarm();
    if (id === lead.id) return LEAD_NAME;
    const name = roster.get(id)?.tag.name;
    if (name === undefined || name === LEAD_NAME || roster.get(name) !== undefined) return id;
    return holderOf(name)?.tag.id === id ? name : id;
  };
  return {
    nameOf,
    nameFor(address) {
      const wanted = address.trim();
      const { roster, lead } = swarm();
      return wanted === lead.id || roster.get(wanted) !== undefined ? nameOf(wanted) : wanted;
    },
  };
};
