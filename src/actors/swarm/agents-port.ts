/** The port through which the tools of an agent spawn, find, await, stop and message its descendants. */
import { stops } from '../../machines/stops.js';
import { type Agents, SpawnRefusal } from '../../protocol/agent/agents.js';
import { sendTeamMessage } from '../messages/send-team-message.js';
import type { AgentNode } from '../tree/agent-node.js';
import { type AgentEntry, childViewOf, isLive } from '../tree/agent-registry.js';
import type { Swarm } from './swarm.js';

/** `swarm` is a function, because the tools of the lead exist before the swarm. */
export const agentsPort = (swarm: () => Swarm, id: string): Agents => {
  const called = (address: string): readonly AgentEntry[] => {
    const { registry: roster } = swarm();
    return roster.find(address, (entry) => roster.isBelow(entry, id));
  };
  const meant = (child: string): AgentEntry | undefined => {
    const [entry, ...others] = called(child);
    return others.length === 0 ? entry : undefined;
  };
  const self = (): AgentNode => {
    const member = swarm().nodeOf(id);
    if (member === undefined) throw new SpawnRefusal('The agent has ended.');
    return member;
  };
  return {
    async spawn(order, signal) {
      const parent = self();
      const { name, call } = order;
      // A restarted agent has its name already.
      const isNew = !parent.deps.journal.history.relations.childByCall.has(call);
      if (name !== undefined && isNew) swarm().registry.refuseTaken(name);
      return swarm().spawn(parent, order, signal);
    },
    find: (address) => called(address).map((entry) => childViewOf(entry, id)),
    list() {
      const { registry: roster } = swarm();
      const below = [...roster.all()].filter((entry) => roster.isBelow(entry, id));
      return below.map((entry) => childViewOf(entry, id));
    },
    async untilEnded(child, timeoutMs, signal) {
      const entry = meant(child);
      if (entry === undefined) return;
      if (entry.child === undefined) await swarm().remote?.refresh();
      if (!isLive(entry)) await swarm().loadReport(entry);
      if (!isLive(entry) || timeoutMs === 0) return;
      const { lifecycle: employment, lead } = swarm();
      const { clock } = lead.deps;
      employment.lendSlot({ id });
      await new Promise<void>((resolve) => {
        const end = () => {
          forget();
          entry.listeners.delete(end);
          signal.removeEventListener('abort', end);
          employment.retakeSlot({ id });
          resolve();
        };
        const forget = clock.wakeAt(clock.now() + timeoutMs, end);
        entry.listeners.add(end);
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
      });
    },
    async stop(child) {
      const entry = meant(child);
      if (entry !== undefined) await swarm().lifecycle.stopTree(entry, stops.BY_PARENT);
    },
    send: async (order) => sendTeamMessage(swarm(), self(), order),
    preview: (count, kind) => swarm().preview(self(), count, kind),
  };
};
