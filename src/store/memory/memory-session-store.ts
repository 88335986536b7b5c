/** Stores sessions in memory, for `--no-session-persistence` and for tests. */
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../protocol/clock.js';
import type { Journal, JournalContents } from '../../protocol/session/journal.js';
import {
  formatRecord,
  JOURNAL_VERSION,
  type JournalBody,
  type JournalRecord,
} from '../../protocol/session/journal-record.js';
import type { Lease, LeaseHolder } from '../../protocol/session/leases.js';
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
import { StorageError, UsageError } from '../../protocol/skein-error.js';
import { EventIndex, parseEvent } from '../files/journal/event-index.js';
import { readJournal, watchLines } from '../files/journal/read-journal.js';
import { IndexPosition } from '../files/journal/unindexed-records.js';
import { checkSessionId } from '../shared/check-session-id.js';
import { noWorkers } from '../shared/no-workers.js';
import { removeEach } from '../shared/remove-each.js';
import { LeaseMemory } from './lease-memory.js';
import { MemoryJobQueue } from './memory-job-queue.js';
import { MemoryMailbox } from './memory-mailbox.js';
import { MemoryTaskList } from './memory-task-list.js';

interface StoredSession {
  meta: SessionMeta;
  /** Index of the current or last owner. */
  index?: EventIndex;
  readonly journals: Map<string, string[]>;
  readonly events: string[];
  readonly artifacts: Map<string, Uint8Array>;
  readonly mail: MemoryMailbox;
  readonly work: SharedTaskList;
}

export class MemorySessionStore implements SessionStore {
  readonly jobs = new MemoryJobQueue();
  readonly outages = undefined;
  private readonly folders = new Map<string, StoredSession>();
  private readonly clock: Clock;
  private readonly leases = new LeaseMemory(
    new Map(),
    { marker: 'memory', pid: process.pid },
    () => true,
  );

  constructor(clock: Clock) {
    this.clock = clock;
  }

  async create(meta: SessionMeta): Promise<OwnedSession> {
    if (this.folders.has(checkSessionId(meta.id))) {
      throw new UsageError(`Session ${meta.id} exists already.`);
    }
    const contents = {
      journals: new Map(),
      events: [],
      artifacts: new Map(),
      mail: new MemoryMailbox(),
    };
    this.folders.set(meta.id, { meta, ...contents, work: new MemoryTaskList(this.clock) });
    return this.open(meta.id);
  }

  async open(id: string): Promise<OwnedSession> {
    const folder = this.folder(id);
    return new MemorySession(folder, await this.leases.take(id), this.clock);
  }

  async list(): Promise<readonly SessionMeta[]> {
    return [...this.folders.values()].map(({ meta }) => meta);
  }

  async survey(): Promise<SessionSurvey> {
    return { sessions: await this.list(), unreadable: [] };
  }

  async holder(id: string): Promise<LeaseHolder | undefined> {
    return this.leases.holder(id);
  }

  async agents(id: string): Promise<readonly string[]> {
    return [...this.folder(id).journals.keys()].sort();
  }

  async *events(id: string): AsyncGenerator<SwarmEvent, void> {
    const { index, events } = this.folder(id);
    index?.flush();
    yield* events.flatMap((line) => parseEvent(line) ?? []);
  }

  watch(id: string): EventWatch {
    const folder = this.folder(id);
    let readCount = 0;
    return {
      async next() {
        folder.index?.flush();
        const newLines = folder.events.slice(readCount);
        readCount += newLines.length;
        return newLines.flatMap((line) => parseEvent(line) ?? []);
      },
    };
  }

  async *records(id: string, agent: string): AsyncGenerator<JournalRecord, void> {
    yield* (await this.readJournal(id, agent)).records;
  }

  watchRecords(id: string, agent: string): RecordWatch {
    const { journals } = this.folder(id);
    let readCount = 0;
    const nextLines = async () => {
      const newLines = journals.get(agent)?.slice(readCount) ?? [];
      readCount += newLines.length;
      return newLines.length === 0 ? undefined : newLines;
    };
    return watchLines(nextLines, agent);
  }

  async remove(id: string): Promise<number> {
    const { journals, events } = this.folder(id);
    const lease = await this.leases.take(id);
    this.folders.delete(id);
    await lease.release();
    return [...journals.values(), events].flat().reduce((sum, line) => sum + line.length + 1, 0);
  }

  removeAll(ids: readonly string[]): Promise<readonly Removal[]> {
    return removeEach(ids, (id) => this.remove(id));
  }

  async readJournal(id: string, agent: string, upTo?: number): Promise<JournalContents> {
    return readJournal(this.folder(id).journals.get(agent) ?? [], agent, upTo);
  }

  async readArtifact(id: string, name: string): Promise<Uint8Array> {
    return artifactOf(this.folder(id), name);
  }

  artifactsOf(): undefined {
    return undefined;
  }

  mailbox(id: string): Mailbox {
    return this.folder(id).mail;
  }

  taskList(id: string): SharedTaskList {
    return this.folder(id).work;
  }

  questions(): QuestionStore {
    return NO_QUESTIONS;
  }

  async openAsWorker(id: string): Promise<WorkerSession> {
    throw noWorkers(id);
  }

  async close(): Promise<void> {}

  private folder(id: string): StoredSession {
    const folder = this.folders.get(id);
    if (folder === undefined) throw new UsageError(`There is no session "${id}".`);
    return folder;
  }
}

/** Empty, because no other process can see or answer the questions of this process. */
const NO_QUESTIONS: QuestionStore = {
  board: { post: async () => {}, withdraw: async () => {}, clear: async () => {} },
  read: async () => ({ questions: [], leftOut: 0 }),
  watch: () => () => {},
  decisions: {
    decide: async (signed) => signed,
    answer: async () => undefined,
    find: async () => undefined,
    waitFor: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
    retract: async () => {},
  },
};

class MemorySession implements OwnedSession {
  readonly epoch: number;
  readonly lost = new AbortController().signal;
  private readonly folder: StoredSession;
  private readonly lease: Lease;
  private readonly clock: Clock;
  private readonly index: EventIndex;
  private readonly open = new Map<string, Journal>();
  private outputs: string | undefined;
  private isClosed = false;

  constructor(folder: StoredSession, lease: Lease, clock: Clock) {
    this.folder = folder;
    this.lease = lease;
    this.epoch = lease.epoch;
    this.clock = clock;
    const position = new IndexPosition();
    for (const event of folder.events.flatMap((line) => parseEvent(line) ?? []))
      position.add(event);
    const sink = { append: (text: string) => void folder.events.push(...splitLines(text)) };
    this.index = new EventIndex(folder.meta.id, sink, position);
    folder.index = this.index;
  }

  get meta(): SessionMeta {
    return this.folder.meta;
  }

  async journal(agent: string, parent: string | null): Promise<Journal> {
    const existing = this.open.get(agent);
    if (existing !== undefined) return existing;
    if (this.isClosed) throw new StorageError(`The session ${this.meta.id} is closed.`);
    const storedLines = this.folder.journals.get(agent) ?? [];
    this.folder.journals.set(agent, storedLines);
    const past = readJournal(storedLines, agent);
    let seq = past.records.at(-1)?.seq ?? 0;
    const append = (body: JournalBody): JournalRecord => {
      seq += 1;
      const head = { v: JOURNAL_VERSION, seq, ts: this.clock.now(), epoch: this.epoch };
      // Faster than a second spread; this is a hot path.
      const record = Object.assign(head, body) as JournalRecord;
      storedLines.push(formatRecord(record));
      this.index.add(agent, parent, record);
      return record;
    };
    const journal = { past, append, written: () => undefined, sync: async () => {} };
    this.open.set(agent, journal);
    return journal;
  }

  async closeJournal(agent: string): Promise<void> {
    this.open.delete(agent);
  }

  journalFile(): undefined {
    return undefined;
  }

  async readEvents(from = 1, to = Number.POSITIVE_INFINITY): Promise<readonly SwarmEvent[]> {
    this.index.flush();
    return this.folder.events
      .flatMap((line) => parseEvent(line) ?? [])
      .filter(({ seq }) => seq >= from && seq <= to);
  }

  async updateMeta(change: Partial<SessionMeta>): Promise<void> {
    this.folder.meta = { ...this.folder.meta, ...change };
  }

  async putArtifact(name: string, bytes: Uint8Array): Promise<void> {
    this.folder.artifacts.set(name, bytes);
  }

  async readArtifact(name: string): Promise<Uint8Array> {
    return artifactOf(this.folder, name);
  }

  async takeBack(): Promise<void> {}

  fenceOf(): undefined {}

  artifactDirectory(): string {
    this.outputs ??= fs.mkdtempSync(join(tmpdir(), 'skein-outputs-'));
    return this.outputs;
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.index.flush();
    this.open.clear();
    if (this.outputs !== undefined) fs.rmSync(this.outputs, { recursive: true, force: true });
    await this.lease.release();
  }
}

const artifactOf = (folder: StoredSession, name: string): Uint8Array => {
  const bytes = folder.artifacts.get(name);
  if (bytes === undefined) throw new UsageError(`There is no artifact "${name}".`);
  return bytes;
};

const splitLines = (text: string): string[] => text.split('\n').slice(0, -1);
