/** Waits for a child. The parent lends its slot meanwhile, so that its children can run. */
import { stops } from '../../machines/stops.js';
import type { ChildReport } from '../../protocol/agent/child-report.js';
import type { AgentLifecycle } from '../swarm/agent-lifecycle.js';
import type { AgentNode } from '../tree/agent-node.js';
import { type AgentEntry, isLive } from '../tree/agent-registry.js';

/** Resolves with the report. If the signal aborts, interrupts the child and rejects with the reason. */
export const waitForChild = (
  lifecycle: AgentLifecycle,
  parent: AgentNode,
  entry: AgentEntry,
  signal: AbortSignal,
): Promise<ChildReport> => {
  const { report } = entry;
  if (report !== undefined && !isLive(entry)) return Promise.resolve(report);
  lifecycle.lendSlot(parent);
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      entry.listeners.delete(end);
      const retakeAndReject = () => {
        lifecycle.retakeSlot(parent);
        reject(signal.reason);
      };
      lifecycle.stopper.stopTree(entry, stops.INTERRUPTED).then(retakeAndReject, reject);
    };
    // Retake the slot at once, while the slot of the ended child is still free.
    const end = (finalReport: ChildReport) => {
      signal.removeEventListener('abort', onAbort);
      lifecycle.retakeSlot(parent);
      resolve(finalReport);
    };
    entry.listeners.add(end);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
};
