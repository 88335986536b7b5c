/** A session that this process has opened for writing. */
import type { Journal } from './journal.js';
import type { JournalRecord } from './journal-record.js';
import type { Fence } from './mailbox.js';
import type { SessionMeta } from './session-store.js';
import type { SwarmEvent } from './swarm-event.js';

export interface OwnedSession {
  readonly meta: SessionMeta;
  /** Fencing number of the lease. Every record carries it. */
  readonly epoch: number;
  /** Aborts with StorageError when another process has taken over the session. No effect may follow. */
  readonly lost: AbortSignal;
  /** Sentences about damage outside of journals. Default: none. */
  readonly damage?: readonly string[];
  journal(agent: string, parent: string | null): Promise<Journal>;
  /**
   * Writes all records to disk and releases the resources of the journal, for agents that have ended. A later
   * `journal()` opens it again. Idempotent.
   */
  closeJournal(agent: string): Promise<void>;
  /** Returns the path of the journal, or undefined if it does not outlive the process. */
  journalFile(agent: string): string | undefined;
  /**
   * Takes the write scope of an agent that no process runs, even if its lease has not expired. Lasts until
   * `closeJournal`.
   */
  takeBack(agent: string): Promise<void>;
  /** Returns the fence for mail of the agent, or undefined if no other process could write for it. */
  fenceOf(agent: string): Fence | undefined;
  readEvents(from?: number, to?: number): Promise<readonly SwarmEvent[]>;
  updateMeta(change: Partial<Omit<SessionMeta, 'id' | 'format'>>): Promise<void>;
  putArtifact(name: string, bytes: Uint8Array): Promise<void>;
  readArtifact(name: string): Promise<Uint8Array>;
  /** Returns the folder for outputs that are too large for a message. */
  artifactDirectory(): string;
  /** Losses of a store whose server can lose acknowledged writes. Undefined in a worker, and for other stores. */
  readonly losses?: StoreLosses | undefined;
  /** Writes all data to disk and releases the lease. Idempotent. */
  close(): Promise<void>;
}

/** Acknowledged writes that the store has lost, as the process of the lead knows them. */
export interface StoreLosses {
  /** Returns the records of an agent that are in a copy on this machine only, and that no record tells of. */
  recordsOf(agent: string): Promise<readonly JournalRecord[]>;
  /**
   * Calls `check` after the server of the store has changed. No worker starts an agent of the session until
   * `check` has resolved with true; otherwise it is called again. `hasLost` is true if the store has lost events of
   * any agent. Returns a function that ends this.
   */
  onServerChange(check: (hasLost: boolean) => Promise<boolean>): () => void;
}

/** Session opened by a worker, which runs agents that were handed to it. Each agent has its own lease. */
export interface WorkerSession extends OwnedSession {
  /**
   * Takes the lease of an agent and its future descendants under a new highest epoch, which fences off
   * the previous holder. Rejects with StorageError if a newer process holds the lease.
   */
  adopt(agent: string): Promise<Adoption>;
  /** Calls the listener when artifacts may have changed. Returns the function that removes the listener. */
  onArtifactsChange(listener: () => void): () => void;
}

export interface Adoption {
  readonly epoch: number;
  /** Same as `OwnedSession.lost`, for this agent only. */
  readonly lost: AbortSignal;
  /** Stores all records and releases the lease. No effect if another process has taken it. */
  release(): Promise<void>;
}
