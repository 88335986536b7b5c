/** Sessions as files: one folder each under `sessions/`, owned by one process at a time. */
import fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../protocol/clock.js';
import { SkeinError, UsageError } from '../../protocol/errors.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { JobQueue } from '../../protocol/session/job-queue.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { LeaseHolder, Leases } from '../../protocol/session/leases.js';
import type { Mailbox } from '../../protocol/session/mailbox.js';
import type { QuestionDesk } from '../../protocol/session/question-board.js';
import type {
  EventWatch,
  JournalContents,
  RecordWatch,
  Removal,
  Session,
  SessionMeta,
  SessionStore,
  SessionSurvey,
  WorkerSession,
} from '../../protocol/session/store.js';
import type { SharedTaskList } from '../../protocol/session/task-list.js';
import { checkSessionId, notVisited } from '../shared/session-meta.js';
import { questionBoard, readQuestions } from './file-questions.js';
import { FileSession, readArtifact } from './file-session.js';
import { writeAtomically } from './io/write-atomically.js';
import { FileJobQueue } from './jobs/file-job-queue.js';
import { readJournal, recordsOf, watchJournal } from './journal/journal-lines.js';
import { agentsOf, journalPath } from './journal/journal-place.js';
import { storageError } from './journal/line-file.js';
import { linesOf } from './journal/line-tail.js';
import { LeaseFiles, type LeaseOwner } from './leases/lease-file.js';
import { FileMailbox } from './mailbox/file-mailbox.js';
import { refuseMirror } from './mirror-marker.js';
import { eventsOf, readMeta, surveySessions, watchEvents } from './read-session.js';
import { removeEach, removeFolder, sweepRemoved } from './remove-session.js';
import { FileTaskList } from './tasks/file-task-list.js';

export interface FileStoreOptions {
  /** The `sessions` folder of the state directory. */
  readonly root: string;
  readonly owner: LeaseOwner;
  readonly ownerLives: (marker: string) => boolean;
  readonly clock: Clock;
  /** Takes secrets out of the event index, which quotes commands and errors. */
  readonly redact?: (text: string) => string;
}

export class FileSessionStore implements SessionStore {
  readonly jobs: JobQueue;
  readonly outages = undefined;
  private readonly options: FileStoreOptions;
  private readonly leases: Leases;
  /** Once is enough, however many sessions are removed. */
  private isSwept = false;

  constructor(options: FileStoreOptions) {
    this.options = options;
    this.jobs = new FileJobQueue(options.root, options.ownerLives);
    this.leases = new LeaseFiles(options.root, options.owner, options.ownerLives);
  }

  async create(meta: SessionMeta): Promise<Session> {
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
    writeAtomically(join(folder, 'session.json'), JSON.stringify(meta, null, 2));
    return this.own(meta.id, meta);
  }

  async open(id: string): Promise<Session> {
    refuseMirror(this.folder(id), id);
    return this.own(id, readMeta(this.folder(id), id));
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
    return agentsOf(this.folder(id));
  }

  async *events(id: string): AsyncGenerator<SwarmEvent, void> {
    yield* eventsOf(this.folder(id), id, this.options.redact ?? ((text) => text));
  }

  watch(id: string): EventWatch {
    return watchEvents(this.folder(id));
  }

  async *records(id: string, agent: string): AsyncGenerator<JournalRecord, void> {
    yield* recordsOf(journalPath(this.folder(id), agent));
  }

  watchRecords(id: string, agent: string): RecordWatch {
    return watchJournal(journalPath(this.folder(id), agent));
  }

  async remove(id: string): Promise<number> {
    readMeta(this.folder(id), id);
    // Never released: with it goes the file that says so.
    await this.leases.take(id);
    if (!this.isSwept) sweepRemoved(this.options.root);
    this.isSwept = true;
    return removeFolder(this.options.root, id);
  }

  removeAll(ids: readonly string[]): Promise<readonly Removal[]> {
    return removeEach(ids, (id) => this.remove(id));
  }

  async peek(id: string, agent: string, upTo?: number): Promise<JournalContents> {
    const path = journalPath(this.folder(id), agent);
    return readJournal(linesOf(path), path, upTo);
  }

  async peekArtifact(id: string, name: string): Promise<Uint8Array> {
    return readArtifact(this.artifactsOf(id), name);
  }

  artifactsOf(id: string): string {
    return join(this.folder(id), 'artifacts');
  }

  mailbox(id: string): Mailbox {
    return new FileMailbox(this.folder(id), this.options.clock);
  }

  workList(id: string): SharedTaskList {
    return new FileTaskList(this.folder(id), this.options.clock);
  }

  questions(id: string): QuestionDesk {
    const folder = this.folder(id);
    const read = async () => readQuestions(folder);
    return { board: questionBoard(folder), read, verdicts: undefined };
  }

  async openAsWorker(id: string): Promise<WorkerSession> {
    throw notVisited(id);
  }

  async close(): Promise<void> {}

  private folder(id: string): string {
    return join(this.options.root, checkSessionId(id));
  }

  private async own(id: string, meta: SessionMeta): Promise<Session> {
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
