/**
 * Begins agents again that a defect of ours has ended, from their journals as after the death of a process:
 * what they had running is settled as it would be then, and nothing is repeated silently (law 7). Between
 * crash and beginning an agent waits like one that has no place yet, and can be stopped like one.
 */
import { restartOf } from '../../machines/restart-policy.js';
import type { Stop } from '../../protocol/agent/agent.js';
import { StorageError } from '../../protocol/errors.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { AgentEntry } from '../tree/agent-registry.js';
import { failed } from '../tree/stop-reasons.js';
import type { SwarmContext } from '../tree/swarm-context.js';

export interface SupervisorDeps {
  readonly house: SwarmContext;
  readonly lead: AgentNode;
  /** Nobody wants it any more, or another has taken its part. */
  readonly isGone: (entry: AgentEntry, child: ChildNode) => boolean;
  /** It has ended, for good. */
  readonly giveUp: (entry: AgentEntry, child: ChildNode, stop: Stop) => void;
  /** Its place is somebody else's. */
  readonly leave: (id: string) => void;
  /** Begins it where its journal says that it is. Rejects with a SkeinError. */
  readonly revive: (entry: AgentEntry) => Promise<boolean>;
}

export class Supervisor {
  private readonly deps: SupervisorDeps;
  /** Those that wait to begin again: what ends the waiting. */
  private readonly pauses = new Set<() => void>();
  private readonly beginning = new Map<string, Promise<void>>();

  constructor(deps: SupervisorDeps) {
    this.deps = deps;
  }

  crashed(entry: AgentEntry, child: ChildNode, error: unknown): void {
    const { clock, feed } = this.deps.lead.deps;
    const stop = failed(error);
    const { crashes } = child.deps.notebook.history.life;
    const restart = entry.halting ?? restartOf(child.tag.kind, crashes, clock.now());
    if (restart === undefined || 'reason' in restart) {
      this.deps.giveUp(entry, child, restart ?? inVain(stop, crashes.length));
      return;
    }
    const { attempt, most, delayMs } = restart;
    const reason = stop.detail ?? '';
    try {
      child.deps.notebook.record({ type: 'agent.restarted', reason, attempt, delayMs });
    } catch {
      // Without a journal there is nothing to begin again from, and the defect may be there.
      this.deps.giveUp(entry, child, stop);
      return;
    }
    child.agent = undefined;
    entry.status = 'queued';
    const when = `in ${delayMs / 1_000} s (${attempt} of ${most})`;
    feed.emit({ type: 'notice', text: `${agentLabel(child.tag)} begins again ${when}: ${reason}` });
    const forget = clock.wakeAt(clock.now() + delayMs, () => {
      this.pauses.delete(forget);
      const begun = this.begin(entry, child, stop).finally(() => this.beginning.delete(child.id));
      this.beginning.set(child.id, begun);
    });
    this.pauses.add(forget);
  }

  /** Of one that is being rebuilt, and cannot be found meanwhile; undefined for all others. */
  untilBegun(id: string): Promise<void> | undefined {
    return this.beginning.get(id);
  }

  close(): void {
    for (const forget of this.pauses) forget();
    this.pauses.clear();
  }

  private async begin(entry: AgentEntry, child: ChildNode, stop: Stop): Promise<void> {
    const { house, isGone, leave, revive } = this.deps;
    if (isGone(entry, child)) return;
    const { id, deps, hooks, jobs } = child;
    try {
      hooks.close();
      await jobs.end();
      if (isGone(entry, child)) return;
      // From here on nobody writes to what it was; letters wait for what it will be.
      deps.notebook.end();
      entry.child = undefined;
      leave(id);
      // What it may use up goes on with it.
      house.kept.set(id, deps.grant);
      await house.session.closeJournal(id);
      if (!(await revive(entry))) throw new StorageError('It left nothing to go on with.');
    } catch (error) {
      this.lose(entry, child, stop, error);
    } finally {
      house.kept.delete(id);
    }
  }

  private lose(entry: AgentEntry, child: ChildNode, stop: Stop, error: unknown): void {
    const { giveUp } = this.deps;
    const why = error instanceof Error ? error.message : String(error);
    entry.child = child;
    giveUp(entry, child, { ...stop, detail: `${stop.detail} It could not begin again: ${why}` });
  }
}

const inVain = (stop: Stop, times: number): Stop =>
  times === 0
    ? stop
    : { ...stop, detail: `${stop.detail} It was begun again ${times} times; what it did is kept.` };
