/** Restarts a crashed child: journals the restart, waits for the delay and rebuilds the child from its journal. */
import type { ChildEvent } from '../../machines/child-event.js';
import type { Restart } from '../../machines/restart-policy.js';
import type { Stop } from '../../protocol/agent/stop.js';
import { StorageError } from '../../protocol/skein-error.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { AgentEntry } from '../tree/agent-registry.js';
import type { SwarmContext } from '../tree/swarm-context.js';

export interface AgentRestarterDeps {
  readonly context: SwarmContext;
  readonly lead: AgentNode;
  /** Sends an event to the life of the child. */
  readonly send: (entry: AgentEntry, event: ChildEvent) => void;
  readonly releaseSlot: (id: string) => void;
  /** Rebuilds the agent from its journal and starts it if `prepare` returns true. Rejects with SkeinError. */
  readonly restart: (entry: AgentEntry, prepare: (child: ChildNode) => boolean) => Promise<boolean>;
}

export class AgentRestarter {
  private readonly deps: AgentRestarterDeps;
  /** Cancels the restart timer of a child, by id. */
  private readonly timers = new Map<string, () => void>();
  /** Rebuilds under way, by id. */
  private readonly rebuilds = new Map<string, Promise<void>>();
  private isClosed = false;

  constructor(deps: AgentRestarterDeps) {
    this.deps = deps;
  }

  /** Journals the restart and sends `restart.due` after the delay, or `restart.failed`. */
  schedule(
    entry: AgentEntry,
    child: ChildNode,
    { restart, stop }: { readonly restart: Restart; readonly stop: Stop },
  ): void {
    const { lead, send } = this.deps;
    const { clock, feed } = lead.deps;
    const { attempt, maxAttempts, delayMs } = restart;
    const reason = stop.detail ?? '';
    try {
      child.deps.journal.record({ type: 'agent.restarted', reason, attempt, delayMs });
    } catch {
      // A child cannot be rebuilt without its journal, and the journal may be the cause of the crash.
      send(entry, { type: 'restart.failed', stop });
      return;
    }
    child.agent = undefined;
    const when = `in ${delayMs / 1_000} s (attempt ${attempt} of ${maxAttempts})`;
    feed.emit({ type: 'notice', text: `${agentLabel(child.tag)} restarts ${when}: ${reason}` });
    const cancel = clock.wakeAt(clock.now() + delayMs, () => {
      this.timers.delete(child.id);
      if (entry.child === child) send(entry, { type: 'restart.due', stop });
    });
    this.timers.set(child.id, cancel);
  }

  /** Cancels a scheduled restart. Idempotent. */
  cancel(id: string): void {
    this.timers.get(id)?.();
    this.timers.delete(id);
  }

  /** Rebuilds the child, which starts it, or sends `restart.failed`. */
  rebuild(entry: AgentEntry, child: ChildNode, stop: Stop): void {
    const { id } = child;
    const rebuilt = this.rebuildAndStart(entry, child)
      .catch((error: unknown) => {
        if (entry.life?.value !== 'rebuilding') return;
        const why = error instanceof Error ? error.message : String(error);
        const detail = `${stop.detail} It could not be restarted: ${why}`;
        entry.child = child;
        this.deps.send(entry, { type: 'restart.failed', stop: { ...stop, detail } });
      })
      .finally(() => this.rebuilds.delete(id));
    this.rebuilds.set(id, rebuilt);
  }

  /** Returns the rebuild of the child that is under way. It never rejects. */
  rebuildOf(id: string): Promise<void> | undefined {
    return this.rebuilds.get(id);
  }

  close(): void {
    this.isClosed = true;
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
  }

  private async rebuildAndStart(entry: AgentEntry, child: ChildNode): Promise<void> {
    const { context, releaseSlot, restart } = this.deps;
    const { id, deps, hooks, jobs } = child;
    hooks.close();
    await jobs.end();
    if (this.isClosed) return;
    // From here on letters wait until the child is rebuilt.
    deps.journal.end();
    entry.child = undefined;
    releaseSlot(id);
    // The rebuilt child keeps the rest of its budget.
    context.keptBudgets.set(id, deps.budget);
    try {
      await context.session.closeJournal(id);
      if (!(await restart(entry, () => true))) {
        throw new StorageError('Its journal holds nothing to resume.');
      }
    } finally {
      context.keptBudgets.delete(id);
    }
  }
}
