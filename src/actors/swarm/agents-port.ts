/** The port through which the tools of an agent spawn, find, await, stop and message its descendants. */
import { stops } from '../../machines/stops.js';
import { AgentRefusal, type Agents } from '../../protocol/agent/agents.js';
import { sendTeamMessage } from '../messages/send-team-message.js';
import type { AgentNode } from '../tree/agent-node.js';
import { type AgentEntry, childViewOf, isLive } from '../tree/agent-registry.js';
import type { Swarm } from './swarm.js';

/** `swarm` is a function, because the tools of the lead exist before the swarm. */
export const agentsPort = (swarm: () => Swarm, id: string): Agents => {
  const findBelow = (address: string): readonly AgentEntry[] => {
    const { registry } = swarm();
    return registry.find(address, (entry) => registry.isBelow(entry, id));
  };
  const findSingle = (child: string): AgentEntry | undefined => {
    const [entry, ...others] = findBelow(child);
    return others.length === 0 ? entry : undefined;
  };
  const self = (): AgentNode => {
    const node = swarm().nodeOf(id);
    if (node === undefined) throw new AgentRefusal('The agent has ended.');
    return node;
  };
  return {
    async spawn(request, signal) {
      const parent = self();
      const { name, call } = request;
      // A restarted agent has its name already.
      const isNew = !parent.deps.journal.history.relations.childByCall.has(call);
      if (name !== undefined && isNew) swarm().registry.refuseTaken(name);
      return swarm().spawn(parent, request, signal);
    },
    find: (address) => findBelow(address).map((entry) => childViewOf(entry, id)),
    list() {
      const { registry } = swarm();
      const below = [...registry.all()].filter((entry) => registry.isBelow(entry, id));
      return below.map((entry) => childViewOf(entry, id));
    },
    async untilEnded(child, timeoutMs, signal) {
      const entry = findSingle(child);
      if (entry === undefined) return;
      if (entry.child === undefined) await swarm().remote?.refresh();
      if (!isLive(entry)) await swarm().loadReport(entry);
      if (!isLive(entry) || timeoutMs === 0) return;
      const { lifecycle, lead } = swarm();
      const { clock } = lead.deps;
      lifecycle.lendSlot({ id });
      await new Promise<void>((resolve) => {
        const end = () => {
          cancelTimer();
          entry.listeners.delete(end);
          signal.removeEventListener('abort', end);
          lifecycle.retakeSlot({ id });
          resolve();
        };
        const cancelTimer = clock.wakeAt(clock.now() + timeoutMs, end);
        entry.listeners.add(end);
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
      });
    },
    async stop(child) {
      const entry = findSingle(child);
      if (entry !== undefined) await swarm().lifecycle.stopper.stopTree(entry, stops.BY_PARENT);
    },
    send: async (request) => sendTeamMessage(swarm(), self(), request),
    preview: (count, kind) => swarm().preview(self(), count, kind),
  };
};
