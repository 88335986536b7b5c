/** Stores sessions as folders under `sessions/`. Only a single process owns a session at a time. */
import fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../protocol/clock.js';
import type { JobQueue } from '../../protocol/session/job-queue.js';
import type { JournalContents } from '../../protocol/session/journal.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { LeaseHolder, Leases } from '../../protocol/session/leases.js';
import type { Mailbox } from '../../protocol/session/mailbox.js';
import type { OwnedSession, WorkerSession } from '../../protocol/session/owned-session.js';
import type { QuestionStore } from '../../protocol/session/question-board.js';
import type {
  EventWatch,
  RecordWatch,
  Removal,
  SessionMeta,
  SessionStore,
  SessionSurvey,
} from '../../protocol/session/session-store.js';
import type { SharedTaskList } from '../../protocol/session/shared-task-list.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { SkeinError, UsageError } from '../../protocol/skein-error.js';
import { checkSessionId } from '../shared/check-session-id.js';
import { noWorkers } from '../shared/no-workers.js';
import { removeEach } from '../shared/remove-each.js';
import { storageError } from '../shared/storage-error.js';
import { FileSession, readArtifactFile } from './file-session.js';
import { replaceStoredFileDurably } from './io/replace-stored-file.js';
import { FileJobQueue } from './jobs/file-job-queue.js';
import { journaledAgents, journalPath } from './journal/journal-file.js';
import { linesOf } from './journal/line-tail.js';
import { readJournal, recordsOf, watchJournal } from './journal/read-journal.js';
import { LeaseFiles, type LeaseOwner } from './leases/lease-file.js';
import { FileMailbox } from './mailbox/file-mailbox.js';
import { refuseMirror } from './mark-mirror.js';
import { fileQuestions } from './questions/file-questions.js';
import { removeSession, sweepRemoved } from './remove-session.js';
import { sessionEvents, watchSessionEvents } from './session-events.js';
import { readSessionMeta, surveySessions } from './survey-sessions.js';
import { FileTaskList } from './tasks/file-task-list.js';

interface FileStoreOptions {
  /** The `sessions` folder of the state directory. */
  readonly root: string;
  readonly owner: LeaseOwner;
  readonly isOwnerAlive: (marker: string) => boolean;
  readonly clock: Clock;
  /**
   * Removes secrets from the event index, which quotes commands and errors. Default: no redaction.
   */
  readonly redact?: (text: string) => string;
}

export class FileSessionStore implements SessionStore {
  readonly jobs: JobQueue;
  readonly outages = undefined;
  private readonly options: FileStoreOptions;
  private readonly leases: Leases;
  /** True after the leftovers of interrupted removals were deleted once. */
  private isSwept = false;

  constructor(options: FileStoreOptions) {
    this.options = options;
    this.jobs = new FileJobQueue(options.root, options.isOwnerAlive);
    this.leases = new LeaseFiles(options.root, options.owner, options.isOwnerAlive);
  }

  async create(meta: SessionMeta): Promise<OwnedSession> {
    const folder = this.folder(meta.id);
    refuseMirror(folder, meta.id);
    try {
      fs.mkdirSync(this.options.root, { recursive: true, mode: 0o700 });
      fs.mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
        throw new UsageError(
          `Session ${meta.id} exists already; continue it with --resume ${meta.id}.`,
        );
      }
      throw storageError(error, folder);
    }
    await replaceStoredFileDurably(join(folder, 'session.json'), JSON.stringify(meta, null, 2));
    return this.own(meta.id, meta);
  }

  async open(id: string): Promise<OwnedSession> {
    refuseMirror(this.folder(id), id);
    return this.own(id, readSessionMeta(this.folder(id), id));
  }

  async list(): Promise<readonly SessionMeta[]> {
    return surveySessions(this.options.root).sessions;
  }

  async survey(): Promise<SessionSurvey> {
    return surveySessions(this.options.root);
  }

  async holder(id: string): Promise<LeaseHolder | undefined> {
    return this.leases.holder(id);
  }

  async agents(id: string): Promise<readonly string[]> {
    return journaledAgents(this.folder(id));
  }

  async *events(id: string): AsyncGenerator<SwarmEvent, void> {
    yield* sessionEvents(this.folder(id), id, this.options.redact ?? ((text) => text));
  }

  watch(id: string): EventWatch {
    return watchSessionEvents(this.folder(id));
  }

  async *records(id: string, agent: string): AsyncGenerator<JournalRecord, void> {
    yield* recordsOf(journalPath(this.folder(id), agent));
  }

  watchRecords(id: string, agent: string): RecordWatch {
    return watchJournal(journalPath(this.folder(id), agent));
  }

  async remove(id: string): Promise<number> {
    readSessionMeta(this.folder(id), id);
    // The lease is not released, because its file is removed with the session.
    await this.leases.take(id);
    if (!this.isSwept) sweepRemoved(this.options.root);
    this.isSwept = true;
    return removeSession(this.options.root, id);
  }

  removeAll(ids: readonly string[]): Promise<readonly Removal[]> {
    return removeEach(ids, (id) => this.remove(id));
  }

  async readJournal(id: string, agent: string, upTo?: number): Promise<JournalContents> {
    const path = journalPath(this.folder(id), agent);
    return readJournal(linesOf(path), path, upTo);
  }

  async readArtifact(id: string, name: string): Promise<Uint8Array> {
    return readArtifactFile(this.artifactsOf(id), name);
  }

  artifactsOf(id: string): string {
    return join(this.folder(id), 'artifacts');
  }

  mailbox(id: string): Mailbox {
    return new FileMailbox(this.folder(id), this.options.clock);
  }

  taskList(id: string): SharedTaskList {
    return new FileTaskList(this.folder(id), this.options.clock);
  }

  questions(id: string): QuestionStore {
    return fileQuestions(this.folder(id), this.options.clock);
  }

  async openAsWorker(id: string): Promise<WorkerSession> {
    throw noWorkers(id);
  }

  async close(): Promise<void> {}

  private folder(id: string): string {
    return join(this.options.root, checkSessionId(id));
  }

  private async own(id: string, meta: SessionMeta): Promise<OwnedSession> {
    const { clock, redact } = this.options;
    const folder = this.folder(id);
    const lease = await this.leases.take(id);
    try {
      for (const name of ['agents', 'artifacts']) {
        fs.mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
      }
      return new FileSession(folder, meta, lease, clock, redact);
    } catch (error) {
      await lease.release();
      throw error instanceof SkeinError ? error : storageError(error, folder);
    }
  }
}
