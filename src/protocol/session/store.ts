/** What outlives a process: sessions, their journals, their event index, artifacts, mailboxes, jobs, work. */
import type { SkeinError } from '../errors.js';
import type { SwarmEvent } from './events.js';
import type { JobQueue } from './job-queue.js';
import type { JournalBody, JournalRecord } from './journal.js';
import type { LeaseHolder } from './leases.js';
import type { Fence, Mailbox } from './mailbox.js';
import type { QuestionDesk } from './question-board.js';
import type { SharedTaskList } from './task-list.js';

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
  /** Fixed when the session is created: what varies by version or entry point. */
  readonly version: string;
  readonly entrypoint: string;
  /** The session that this one was forked from. */
  readonly parentId: string | null;
  /** The beginning of the first prompt, for listings. */
  readonly title: string;
}

export interface SessionStore {
  /** Of all sessions: agents in the background that outlive a process. */
  readonly jobs: JobQueue;
  create(meta: SessionMeta): Promise<Session>;
  /** Takes the lease; rejects with a UsageError for an unknown, owned or newer session. */
  open(id: string): Promise<Session>;
  /** Without taking it: for listings and forks. Unreadable sessions are left out. */
  list(): Promise<readonly SessionMeta[]>;
  /** The same, with those that cannot be read and why. */
  survey(): Promise<SessionSurvey>;
  /** Who works on it: somebody whose lease is live. */
  holder(id: string): Promise<LeaseHolder | undefined>;
  /** The agents that have a journal. */
  agents(id: string): Promise<readonly string[]>;
  /** What happened so far, for viewers: the index, and from the journals what it still lacks. */
  events(id: string): AsyncIterable<SwarmEvent>;
  /** A look at a session that somebody else may be writing. */
  watch(id: string): EventWatch;
  /** One agent's records, however many there are. */
  records(id: string, agent: string): AsyncIterable<JournalRecord>;
  /** The same for a journal that somebody else may be writing: a look costs what is new. */
  watchRecords(id: string, agent: string): RecordWatch;
  /** Takes a session away, and says how many bytes that freed; rejects when somebody holds it. */
  remove(id: string): Promise<number>;
  /** The same with many: in order, the bytes of each, or why it stays. */
  removeAll(ids: readonly string[]): Promise<readonly Removal[]>;
  /** A journal as it stands, without the lease; up to and with the record `upTo` if it is said. */
  peek(id: string, agent: string, upTo?: number): Promise<JournalContents>;
  peekArtifact(id: string, name: string): Promise<Uint8Array>;
  /** Where a session keeps large outputs; undefined where they do not outlive the process. */
  artifactsOf(id: string): string | undefined;
  /** Letters to and from those who work on a session; costs nothing before somebody writes or reads. */
  mailbox(id: string): Mailbox;
  /** What the agents of a session have to do; costs nothing before somebody writes or reads. */
  workList(id: string): SharedTaskList;
  /** Open questions of a session, and what was decided. */
  questions(id: string): QuestionDesk;
  /** For a process that is not the lead's. Rejects with a UsageError where only one process can own a session. */
  openAsWorker(id: string): Promise<WorkerSession>;
  /** How well it can be reached; undefined where it is always there. */
  readonly outages: Outages | undefined;
  /** Lets go of everything that it holds open. */
  close(): Promise<void>;
}

/** Of a store that others run: it may be gone for a while, and everybody waits meanwhile. */
export interface Outages {
  /** Why it cannot be reached now; undefined when it can. */
  readonly trouble: string | undefined;
  /** Told of each change: a reason, or undefined when it is back. Returns what ends that. */
  listen(listener: (trouble: string | undefined) => void): () => void;
}

export type Removal = number | SkeinError;

export interface SessionSurvey {
  readonly sessions: readonly SessionMeta[];
  readonly unreadable: readonly UnreadableSession[];
}

export interface UnreadableSession {
  readonly id: string;
  readonly reason: string;
  /** Milliseconds since 1970; left out where nobody knows. */
  readonly updatedAt?: number;
}

export interface EventWatch {
  /** The events that were written since the last call, in pieces; an empty one when none was. */
  next(): Promise<readonly SwarmEvent[]>;
}

export interface RecordWatch {
  /** The records that were written since the last call, in pieces; an empty one when none was. */
  next(): Promise<readonly JournalRecord[]>;
}

/** A session that this process owns. */
export interface Session {
  readonly meta: SessionMeta;
  /** The fencing number of the lease. Every record carries it. */
  readonly epoch: number;
  /** Aborts with a StorageError when somebody else has taken it over: nothing more may be done. */
  readonly lost: AbortSignal;
  journal(agent: string, parent: string | null): Promise<Journal>;
  /**
   * Everything in it is on disk, and nothing is held for it any more: for agents that have ended.
   * Asked for again, the journal is opened again. Of one that is not open it is no error.
   */
  closeJournal(agent: string): Promise<void>;
  /** Where it is on disk; undefined where it does not outlive the process. */
  journalFile(agent: string): string | undefined;
  /** Nobody works on it, whatever its lease still says: this process may write for it until it closes the journal. */
  reclaim(agent: string): Promise<void>;
  /** What lets this process speak for an agent; undefined where nobody else could. */
  fenceOf(agent: string): Fence | undefined;
  readEvents(from?: number, to?: number): Promise<readonly SwarmEvent[]>;
  updateMeta(change: Partial<Omit<SessionMeta, 'id' | 'format'>>): Promise<void>;
  putArtifact(name: string, bytes: Uint8Array): Promise<void>;
  readArtifact(name: string): Promise<Uint8Array>;
  /** Where outputs that are too large for a message are kept. */
  artifactDirectory(): string;
  /** Everything is on disk, and somebody else may open the session. */
  close(): Promise<void>;
}

/** Not the lead's: it works on agents that were handed to it, each with a lease of its own. */
export interface WorkerSession extends Session {
  /**
   * Takes an agent, and all that will work for it here, under a higher epoch than ever before: whoever
   * had it can write no more. Rejects with a StorageError when a newer process has it.
   */
  adopt(agent: string): Promise<Adoption>;
  /** Told when an artifact may be new, and now and then when none is, until what it returns is called. */
  heedArtifacts(listener: () => void): () => void;
}

export interface Adoption {
  readonly epoch: number;
  /** As that of a session, for this agent alone. */
  readonly lost: AbortSignal;
  /** Everything of it is stored, and somebody else may take it. Harmless when somebody has. */
  release(): Promise<void>;
}

/** `soon`: nobody waits for it, so it may wait until the disk has time. */
export type SyncTime = 'now' | 'soon';

export interface Journal {
  /** In order. Throws a StorageError; then the record was not taken. */
  append(body: JournalBody): JournalRecord;
  /** What was there when the journal was opened. */
  readonly past: JournalContents;
  /**
   * Undefined when everything appended so far is where the next owner will find it; else a promise of
   * that, which takes as long as the store is out of reach. Rejects with a StorageError when it was
   * refused. What has an effect waits for it.
   */
  written(): Promise<void> | undefined;
  /** Resolves when everything appended so far survives the machine. */
  sync(when?: SyncTime): Promise<void>;
}

export interface JournalContents {
  readonly records: readonly JournalRecord[];
  /** Lines that could not be read, with the reason; they are kept aside, never deleted. */
  readonly damage: readonly string[];
}
