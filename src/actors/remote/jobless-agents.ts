/** Ends agents whose job is gone: workers put it aside after failed starts, or the queue was deleted. */
import { stops } from '../../machines/stops.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import { StorageError } from '../../protocol/skein-error.js';
import { JournaledState } from '../agent/journaled-state.js';
import { finalStop } from '../tree/agent-record.js';
import type { AgentEntry } from '../tree/agent-registry.js';
import type { RemoteDispatch } from './remote-dispatch.js';

export const LOST_JOB =
  'Its job is no longer in the queue: no worker could start it, or the queue was deleted.';

/** Number of checks in a row without a job after which an agent ends. An agent may be about to end. */
const MAX_CHECKS = 3;

export interface JoblessAgentsDeps {
  /** Returns the agents that this process has queued and that have not ended. */
  readonly live: () => readonly AgentEntry[];
  readonly session: Pick<OwnedSession, 'journal' | 'closeJournal'>;
  readonly dispatch: Pick<RemoteDispatch, 'handedOver'>;
  /** Applies the journaled end of an agent and reports it to the parent. */
  readonly applyEnd: (entry: AgentEntry) => Promise<void>;
  /** Reports an agent that cannot be ended in its journal. */
  readonly forget: (entry: AgentEntry) => void;
}

export class JoblessAgents {
  private readonly deps: JoblessAgentsDeps;
  /** Number of checks without a job, by agent. */
  private readonly checks = new Map<string, number>();

  constructor(deps: JoblessAgentsDeps) {
    this.deps = deps;
  }

  async endAll(): Promise<void> {
    const { live, dispatch } = this.deps;
    const jobs = await dispatch.handedOver();
    const jobless = live().filter(({ tag }) => !jobs.has(tag.id));
    const ids = new Set(jobless.map(({ tag }) => tag.id));
    for (const id of this.checks.keys()) if (!ids.has(id)) this.checks.delete(id);
    for (const entry of jobless) {
      const { id } = entry.tag;
      const checks = (this.checks.get(id) ?? 0) + 1;
      this.checks.set(id, checks);
      if (checks >= MAX_CHECKS) await this.end(entry);
    }
  }

  private async end(entry: AgentEntry): Promise<void> {
    const { session, applyEnd, forget } = this.deps;
    const { id, parent } = entry.tag;
    try {
      // Opening the journal fails while a worker has the agent.
      const log = await session.journal(id, parent);
      const journal = new JournaledState(log, log.past.records);
      const { history } = journal;
      if (finalStop(history) === undefined || history.clock.isResumeDue) {
        const { reason, detail } = stops.storageFailed(LOST_JOB);
        const { turns } = history.currentRun;
        journal.record({ type: 'run.ended', reason, detail, turns, final: true });
      }
      await journal.written();
      await session.closeJournal(id);
      await applyEnd(entry);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // A refusal for good has a cause. Otherwise another process has the agent.
      if (error.cause !== undefined) forget(entry);
    }
  }
}
