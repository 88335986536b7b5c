/** Waits for a child. The parent lends its slot meanwhile, so that its children can run. */
import { stops } from '../../machines/stops.js';
import type { ChildReport } from '../../protocol/agent/child-report.js';
import type { AgentLifecycle } from '../swarm/agent-lifecycle.js';
import type { AgentNode } from '../tree/agent-node.js';
import { type AgentEntry, isLive } from '../tree/agent-registry.js';

/** Resolves with the report. If the signal aborts, interrupts the child and rejects with the reason. */
export const waitForChild = (
  employment: AgentLifecycle,
  parent: AgentNode,
  entry: AgentEntry,
  signal: AbortSignal,
): Promise<ChildReport> => {
  const { report } = entry;
  if (report !== undefined && !isLive(entry)) return Promise.resolve(report);
  employment.lendSlot(parent);
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      entry.listeners.delete(end);
      const goOn = () => {
        employment.retakeSlot(parent);
        reject(signal.reason);
      };
      employment.stopTree(entry, stops.INTERRUPTED).then(goOn, reject);
    };
    // Retake the slot at once, while the slot of the ended child is still free.
    const end = (ended: ChildReport) => {
      signal.removeEventListener('abort', giveUp);
      employment.retakeSlot(parent);
      resolve(ended);
    };
    entry.listeners.add(end);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
};
