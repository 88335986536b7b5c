/** How an agent waits for one of its own. Meanwhile it rests, so that those it waits for find a place. */
import * as stops from '../../machines/stops.js';
import type { ChildReport } from '../../protocol/agent/swarm.js';
import type { AgentLifecycle } from '../swarm/agent-lifecycle.js';
import type { AgentNode } from '../tree/agent-node.js';
import { type AgentEntry, isLive } from '../tree/agent-registry.js';

/** Resolves with its report. When the signal aborts, the child is interrupted, and this rejects. */
export const waitForChild = (
  employment: AgentLifecycle,
  parent: AgentNode,
  entry: AgentEntry,
  signal: AbortSignal,
): Promise<ChildReport> => {
  const { report } = entry;
  if (report !== undefined && !isLive(entry)) return Promise.resolve(report);
  employment.rest(parent);
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      entry.listeners.delete(end);
      const goOn = () => {
        employment.wake(parent);
        reject(signal.reason);
      };
      employment.halt(entry, stops.INTERRUPTED).then(goOn, reject);
    };
    // As it hears of it, not later: the place of the child is still there.
    const end = (ended: ChildReport) => {
      signal.removeEventListener('abort', giveUp);
      employment.wake(parent);
      resolve(ended);
    };
    entry.listeners.add(end);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
};
