/**
 * Checks, in the process of the lead, whether the store has lost records of agents that other processes
 * run. An agent with lost records and without a live worker ends here, and is not restarted by itself.
 */
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { RecordsLostError, StorageError } from '../../protocol/skein-error.js';
import { foldRecords, JournaledState } from '../agent/journaled-state.js';
import { copiedLoss, type KnownLoss, recordLoss } from '../agent/record-loss.js';
import type { AgentNode } from '../tree/agent-node.js';
import { finalStop } from '../tree/agent-record.js';
import { type AgentEntry, type AgentRegistry, isLive } from '../tree/agent-registry.js';
import type { RemoteDispatch } from './remote-dispatch.js';

export interface LossCheckDeps {
  readonly store: Pick<SessionStore, 'readJournal'>;
  readonly session: OwnedSession;
  readonly lead: AgentNode;
  readonly registry: AgentRegistry;
  readonly dispatch: RemoteDispatch;
  readonly nodeOf: (id: string) => AgentNode | undefined;
  /** Applies the journaled end of an agent and reports it to the parent. */
  readonly applyEnd: (entry: AgentEntry) => Promise<void>;
  /** Ends an agent that has no journal any more. */
  readonly forget: (entry: AgentEntry) => void;
  /** Queues an unfinished agent again if it has no job. */
  readonly requeue: (entry: AgentEntry) => Promise<void>;
  /** True if another process runs the agent or would resume it. */
  readonly isRemote: (entry: AgentEntry) => boolean;
}

/** State of an agent after a possible loss. */
interface Inspected {
  readonly entry: AgentEntry;
  /** The agent or its nearest ancestor with a job. Undefined if there is none. */
  readonly owner: AgentEntry | undefined;
  readonly records: readonly JournalRecord[];
  readonly loss: KnownLoss;
  readonly isShorter: boolean;
}

/** Number of checks after which the lease of a dead worker has expired, because a lease lasts for three of them. */
const MAX_LEASE_CHECKS = 3;

export class LossCheck {
  private readonly deps: LossCheckDeps;
  /** Number of checks since a loss was noticed. 0 if no loss is noticed. */
  private lossyChecks = 0;

  constructor(deps: LossCheckDeps) {
    this.deps = deps;
  }

  /**
   * Resolves with false if an agent waits for its worker; then the check is repeated. `hasLost`: records of an
   * unknown agent are lost.
   */
  async run(hasLost: boolean): Promise<boolean> {
    const { registry, dispatch } = this.deps;
    if (await this.failLead()) return false;
    const jobs = await dispatch.handedOver();
    const inspected: Inspected[] = [];
    for (const entry of registry.all()) {
      const owner = ownerIn(jobs, registry, entry);
      const isOpen = isLive(entry) || jobs.has(entry.tag.id);
      if (entry.child !== undefined || (owner === undefined && !isOpen)) continue;
      const agent = await this.inspect(entry, owner);
      if (isOpen || agent.isShorter) inspected.push(agent);
    }
    const isLossy = hasLost || this.lossyChecks > 0 || inspected.some(({ isShorter }) => isShorter);
    if (isLossy) this.lossyChecks += 1;
    let isSettled = true;
    for (const agent of inspected) {
      const { entry, owner } = agent;
      const { id } = entry.tag;
      const hasWorker = owner !== undefined && jobs.get(owner.tag.id) !== undefined;
      if (hasWorker) isSettled = (await this.isWorkedOn(agent, owner, isLossy)) && isSettled;
      else if (!(await this.settle(agent, isLossy, jobs.has(id)))) isSettled = false;
    }
    if (isSettled) this.lossyChecks = 0;
    return isSettled;
  }

  /** Stops the lead if the store has lost records of its own journal. */
  private async failLead(): Promise<boolean> {
    const { deps, agent } = this.deps.lead;
    try {
      await deps.journal.written();
      return false;
    } catch (error) {
      if (!(error instanceof RecordsLostError)) throw error;
      agent?.fail(error.message);
      return true;
    }
  }

  private async inspect(entry: AgentEntry, owner: AgentEntry | undefined): Promise<Inspected> {
    const { store, session } = this.deps;
    const { id } = entry.tag;
    // Read the journal last: its owner may write, and later events are counted meanwhile.
    const { counted } = entry;
    const copied = (await session.losses?.recordsOf(id)) ?? [];
    const { records } = await store.readJournal(session.meta.id, id);
    const last = records.at(-1)?.seq ?? 0;
    const seen = Math.max(counted, ...copied.map(({ seq }) => seq));
    const { calls } = copiedLoss(copied, last);
    const isTold = records.some(
      ({ type, ts }) => type === 'records.lost' && ts >= entry.lastActive,
    );
    const isShorter = !isTold && (last < counted || copied.length > 0);
    return { entry, owner, records, loss: { lost: Math.max(0, seen - last), calls }, isShorter };
  }

  /**
   * True if a live worker runs the agent, and has lost nothing or will write what it knows. The older state of the
   * store may hold the lease of a worker that has died since, and a worker that waits for this check holds no lease.
   */
  private async isWorkedOn(
    { entry, records, isShorter }: Inspected,
    owner: AgentEntry,
    isLossy: boolean,
  ): Promise<boolean> {
    const { session } = this.deps;
    const { id, parent } = owner.tag;
    if (isShorter && entry === owner) return false;
    if (!isShorter && (!isLossy || !hasBegun(records))) return true;
    if (this.lossyChecks <= MAX_LEASE_CHECKS) return false;
    try {
      await session.journal(id, parent);
      await session.closeJournal(id);
      return false;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return true;
    }
  }

  /** Resolves with false if another process still has the agent. */
  private async settle(agent: Inspected, isLossy: boolean, hasJob: boolean): Promise<boolean> {
    const { applyEnd, requeue, forget, isRemote } = this.deps;
    const { entry, records, isShorter } = agent;
    if (!isRemote(entry)) return true;
    if (!records.some(({ type }) => type === 'agent.created')) {
      if (isLive(entry)) forget(entry);
      return true;
    }
    const { history } = foldRecords(records);
    const isOver = finalStop(history) !== undefined && !history.clock.isResumeDue;
    try {
      if (isOver && !isShorter) await applyEnd(entry);
      else if (isShorter || (isLossy && hasBegun(records))) await this.end(agent, hasJob);
      else if (!hasJob) await requeue(entry);
      return true;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return false;
    }
  }

  /** Ends the agent with the knowledge of this process. Rejects with StorageError if a process has the agent. */
  private async end({ entry, loss }: Inspected, hasJob: boolean): Promise<void> {
    const { session, dispatch, lead, nodeOf, applyEnd } = this.deps;
    const { id, parent } = entry.tag;
    // Opening the journal fails while a worker has a lease.
    await session.journal(id, parent);
    await session.closeJournal(id);
    if (hasJob && !(await dispatch.withdraw(id)))
      throw new StorageError(`A worker has taken agent ${id}.`);
    try {
      const log = await session.journal(id, parent);
      const journal = new JournaledState(log, log.past.records);
      recordLoss(journal, lead.deps.ids('letter'), loss);
      await journal.written();
      const { runs } = journal.history;
      const mail = { type: 'ended', agent: id, run: runs } as const;
      if (nodeOf(parent) === undefined) await dispatch.post(parent, `end_${id}_${runs}`, mail);
    } finally {
      await session.closeJournal(id);
    }
    if (isLive(entry)) await applyEnd(entry);
  }
}

/** Returns the agent, or its nearest ancestor, that has a job. Sub-agents run in the process of their ancestor. */
const ownerIn = (
  jobs: ReadonlyMap<string, unknown>,
  registry: AgentRegistry,
  entry: AgentEntry,
): AgentEntry | undefined => {
  for (
    let current: AgentEntry | undefined = entry;
    current !== undefined;
    current = registry.parentOf(current)
  ) {
    if (jobs.has(current.tag.id)) return current;
  }
  return undefined;
};

const hasBegun = (records: readonly JournalRecord[]): boolean =>
  records.some(({ type }) => type === 'epoch.began');
