/** Store of sessions: journals, event index, artifacts, mailboxes, jobs and task lists. */
import type { SkeinError } from '../skein-error.js';
import type { JobQueue } from './job-queue.js';
import type { JournalContents } from './journal.js';
import type { JournalRecord } from './journal-record.js';
import type { LeaseHolder } from './leases.js';
import type { Mailbox } from './mailbox.js';
import type { OwnedSession, WorkerSession } from './owned-session.js';
import type { QuestionStore } from './question-board.js';
import type { SharedTaskList } from './shared-task-list.js';
import type { SwarmEvent } from './swarm-event.js';

export const SESSION_FORMAT = 1;

/** `session.json`. A swarm is a session. */
export interface SessionMeta {
  readonly format: typeof SESSION_FORMAT;
  readonly id: string;
  readonly cwd: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lead: string;
  readonly model: string;
  /** Version of Skein that created the session. Never changes, like `entrypoint`. */
  readonly version: string;
  readonly entrypoint: string;
  /** Id of the session that this session was forked from. */
  readonly parentId: string | null;
  /** Beginning of the first prompt, for listings. */
  readonly title: string;
}

export interface SessionStore {
  /** Background agents of all sessions that outlive a process. */
  readonly jobs: JobQueue;
  create(meta: SessionMeta): Promise<OwnedSession>;
  /** Takes the lease. Rejects with UsageError if the session is unknown, owned, or of a newer version. */
  open(id: string): Promise<OwnedSession>;
  /** Lists sessions without taking leases. Unreadable sessions are left out. */
  list(): Promise<readonly SessionMeta[]>;
  /** Lists readable and unreadable sessions. */
  survey(): Promise<SessionSurvey>;
  /** Returns the holder of a live lease, or undefined. */
  holder(id: string): Promise<LeaseHolder | undefined>;
  /** Returns the ids of agents that have a journal. */
  agents(id: string): Promise<readonly string[]>;
  /** Yields all events so far: the index, then events of journal records that are not indexed yet. */
  events(id: string): AsyncIterable<SwarmEvent>;
  /** Follows the events of a session that another process may be writing. */
  watch(id: string): EventWatch;
  /** Streams all records of one agent. */
  records(id: string, agent: string): AsyncIterable<JournalRecord>;
  /** Follows a journal that another process may be writing. Each read costs as much as the new records. */
  watchRecords(id: string, agent: string): RecordWatch;
  /** Deletes a session and resolves with the freed bytes. Rejects with SkeinError if a process holds it. */
  remove(id: string): Promise<number>;
  /** Deletes several sessions. Resolves, in order, with the freed bytes or the error of each. */
  removeAll(ids: readonly string[]): Promise<readonly Removal[]>;
  /** Reads a journal without the lease, up to and including record `upTo`. Default: all records. */
  readJournal(id: string, agent: string, upTo?: number): Promise<JournalContents>;
  readArtifact(id: string, name: string): Promise<Uint8Array>;
  /** Returns the folder of a session's large outputs, or undefined if they do not outlive the process. */
  artifactsOf(id: string): string | undefined;
  /** Returns the mailbox of a session. Uses no resources before the first read or write. */
  mailbox(id: string): Mailbox;
  /** Returns the shared task list of a session. Uses no resources before the first read or write. */
  taskList(id: string): SharedTaskList;
  /** Returns the open questions of a session and their decisions. */
  questions(id: string): QuestionStore;
  /** Opens a session that another process leads. Rejects with UsageError if the store cannot share sessions. */
  openAsWorker(id: string): Promise<WorkerSession>;
  /**
   * Returns a sentence about a copy on this machine of a session that the store does not have: with that id or
   * prefix, or without `query` the newest of the directory. Undefined if there is none. Left out if the store has
   * no copies.
   */
  missing?(query: string | undefined, cwd: string): string | undefined;
  /** Outages of a remote store. Undefined if the store is local. */
  readonly outages: Outages | undefined;
  /** Releases all open resources. */
  close(): Promise<void>;
}

/** Outages of a remote store. Operations wait until the store is back. */
export interface Outages {
  /** Why the store is unreachable now, or undefined if it is reachable. */
  readonly outage: string | undefined;
  /** Calls the listener on each change, with a reason or with undefined. Returns the function that removes it. */
  listen(listener: (outage: string | undefined) => void): () => void;
}

export type Removal = number | SkeinError;

export interface SessionSurvey {
  readonly sessions: readonly SessionMeta[];
  readonly unreadable: readonly UnreadableSession[];
}

export interface UnreadableSession {
  readonly id: string;
  readonly reason: string;
  /** Milliseconds since 1970. Left out if unknown. */
  readonly updatedAt?: number;
}

export interface EventWatch {
  /** Returns a batch of events written since the last call. Empty if there are none left. */
  next(): Promise<readonly SwarmEvent[]>;
}

export interface RecordWatch {
  /** Returns a batch of records written since the last call. Empty if there are none left. */
  next(): Promise<readonly JournalRecord[]>;
}
