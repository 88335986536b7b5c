/** What the tools of one agent may do with those that work for it. */
import { type Agents, SpawnRefusal } from '../../protocol/agent/swarm.js';
import { postMessage } from '../messages/send-message.js';
import type { AgentNode } from '../tree/agent-node.js';
import { type AgentEntry, isLive, viewOf } from '../tree/agent-registry.js';
import { BY_PARENT } from '../tree/stop-reasons.js';
import type { Swarm } from './swarm.js';

/** `swarm` is asked when it is needed: the lead's equipment is there before its swarm. */
export const agentsOf = (swarm: () => Swarm, id: string): Agents => {
  const called = (address: string): readonly AgentEntry[] => {
    const { roster } = swarm();
    return roster.called(address, (entry) => roster.isBelow(entry, id));
  };
  const meant = (child: string): AgentEntry | undefined => {
    const [entry, ...others] = called(child);
    return others.length === 0 ? entry : undefined;
  };
  const self = (): AgentNode => {
    const member = swarm().memberOf(id);
    if (member === undefined) throw new SpawnRefusal('The agent has ended.');
    return member;
  };
  return {
    async spawn(order, signal) {
      const parent = self();
      const { name, call } = order;
      // One that is taken up again has its name already.
      const isNew = !parent.deps.notebook.history.family.asked.has(call);
      if (name !== undefined && isNew) swarm().roster.refuseTaken(name);
      return swarm().spawn(parent, order, signal);
    },
    find: (address) => called(address).map((entry) => viewOf(entry, id)),
    list() {
      const { roster } = swarm();
      const below = [...roster.all()].filter((entry) => roster.isBelow(entry, id));
      return below.map((entry) => viewOf(entry, id));
    },
    async untilEnded(child, timeoutMs, signal) {
      const entry = meant(child);
      if (entry === undefined) return;
      if (entry.child === undefined) await swarm().remotes?.look();
      if (!isLive(entry)) await swarm().recollect(entry);
      if (!isLive(entry) || timeoutMs === 0) return;
      const { employment, lead } = swarm();
      const { clock } = lead.deps;
      employment.rest({ id });
      await new Promise<void>((resolve) => {
        const end = () => {
          forget();
          entry.listeners.delete(end);
          signal.removeEventListener('abort', end);
          employment.wake({ id });
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
      if (entry !== undefined) await swarm().employment.halt(entry, BY_PARENT);
    },
    send: async (order) => postMessage(swarm(), self(), order),
    preview: (count, kind) => swarm().preview(self(), count, kind),
  };
};
