/** Sessions in Redis: several processes of several machines work on one, each for the agents that it has. */
import fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../protocol/clock.js';
import { SkeinError } from '../../../protocol/errors.js';
import type { SwarmEvent } from '../../../protocol/session/events.js';
import type { JobQueue } from '../../../protocol/session/job-queue.js';
import type { JournalRecord } from '../../../protocol/session/journal.js';
import type { LeaseHolder } from '../../../protocol/session/leases.js';
import type { Mailbox } from '../../../protocol/session/mailbox.js';
import type { QuestionDesk } from '../../../protocol/session/question-board.js';
import type {
  EventWatch,
  JournalContents,
  Outages,
  RecordWatch,
  Removal,
  Session,
  SessionMeta,
  SessionStore,
  SessionSurvey,
  WorkerSession,
} from '../../../protocol/session/store.js';
import type { SharedTaskList } from '../../../protocol/session/task-list.js';
import { parseEvent } from '../../files/journal/event-index.js';
import { recordReader, watchLines } from '../../files/journal/journal-lines.js';
import { journalPath } from '../../files/journal/journal-place.js';
import type { LeaseOwner } from '../../files/leases/lease-file.js';
import { refuseFiles } from '../../files/mirror-marker.js';
import { orRefusal, removeFolder } from '../../files/remove-session.js';
import { checkSessionId } from '../../shared/session-meta.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { type SwarmKeys, swarmKeys } from '../connection/redis-keys.js';
import { piecesOf } from '../journal/long-lines.js';
import { readList } from '../journal/open-journal.js';
import { RedisLeases } from '../leases/redis-leases.js';
import { type Scope, WriteScopes } from '../leases/write-scopes.js';
import { RedisSession } from './redis-session.js';
import { removeSwarms } from './remove-swarms.js';
import { startMirror } from './session-mirror.js';
import { readArtifact } from './swarm-artifacts.js';
import { startUpkeep } from './swarm-expiry.js';
import { createMeta, listMeta, noSession, readMeta, surveyMetas } from './swarm-meta.js';

export interface RedisStoreOptions {
  /** Whoever opened it and the queue closes them, after the store. */
  readonly broker: RedisConnections;
  readonly owner: LeaseOwner;
  readonly leaseMs?: number;
  readonly clock: Clock;
  /** Takes secrets out of events, which quote commands and errors. */
  readonly redact?: (text: string) => string;
  /** Of this machine: a folder for each session, with outputs of tools and a copy for its lead. */
  readonly folder: string;
  readonly jobs: JobQueue;
  readonly mailbox: (id: string) => Mailbox;
  readonly workList: (id: string) => SharedTaskList;
  readonly questions: (id: string) => QuestionDesk;
}

export class RedisSessionStore implements SessionStore {
  readonly jobs: JobQueue;
  readonly outages: Outages;
  private readonly options: RedisStoreOptions;
  private readonly broker: RedisConnections;
  private readonly keeper: WriteScopes;
  private readonly leases: RedisLeases;
  private readonly sessions = new Set<RedisSession>();

  constructor(options: RedisStoreOptions) {
    this.options = options;
    this.jobs = options.jobs;
    this.broker = options.broker;
    this.outages = options.broker;
    this.keeper = new WriteScopes(options.broker, options.owner, options.leaseMs);
    this.leases = new RedisLeases(options.broker, this.keeper);
  }
  async create(meta: SessionMeta): Promise<Session> {
    const folder = this.folder(meta.id);
    refuseFiles(folder, meta.id);
    await createMeta(this.broker, meta);
    return this.own(meta);
  }

  async open(id: string): Promise<Session> {
    refuseFiles(this.folder(id), id);
    return this.own(await readMeta(this.broker, id));
  }

  async openAsWorker(id: string): Promise<WorkerSession> {
    const folder = this.folder(id);
    const meta = await readMeta(this.broker, id);
    const session = new RedisSession(meta, {
      ...this.means(),
      folder,
      lead: undefined,
      closed: async () => void this.sessions.delete(session),
    });
    this.sessions.add(session);
    return session;
  }

  async list(): Promise<readonly SessionMeta[]> {
    return (await this.survey()).sessions;
  }

  async survey(): Promise<SessionSurvey> {
    return surveyMetas(this.broker);
  }

  async holder(id: string): Promise<LeaseHolder | undefined> {
    return this.leases.holder(id);
  }

  async agents(id: string): Promise<readonly string[]> {
    const { agents } = await this.settled(id);
    return ((await this.broker.call('HKEYS', agents)) as string[]).sort();
  }

  async *events(id: string): AsyncGenerator<SwarmEvent, void> {
    const keys = await this.settled(id);
    for await (const lines of piecesOf(this.broker, keys, keys.events)) yield* eventsIn(lines);
  }

  watch(id: string): EventWatch {
    checkSessionId(id);
    let seen = 0;
    return {
      next: async () => {
        const keys = await this.settled(id);
        for await (const lines of piecesOf(this.broker, keys, keys.events, seen)) {
          seen += lines.length;
          const events = eventsIn(lines);
          if (events.length > 0) return events;
        }
        return [];
      },
    };
  }

  async *records(id: string, agent: string): AsyncGenerator<JournalRecord, void> {
    const keys = await this.settled(id, agent);
    const list = keys.journal(agent);
    const recordIn = recordReader(list);
    for await (const lines of piecesOf(this.broker, keys, list)) {
      for (const line of lines) {
        const record = recordIn(line);
        if (record !== undefined) yield record;
      }
    }
  }

  watchRecords(id: string, agent: string): RecordWatch {
    const list = swarmKeys(checkSessionId(id)).journal(agent);
    let seen = 0;
    const nextLines = async () => {
      const keys = await this.settled(id, agent);
      for await (const lines of piecesOf(this.broker, keys, list, seen)) {
        seen += lines.length;
        return lines;
      }
      return undefined;
    };
    return watchLines(nextLines, list);
  }

  async peek(id: string, agent: string, upTo?: number): Promise<JournalContents> {
    return readList(this.broker, await this.settled(id, agent), agent, undefined, upTo);
  }

  async peekArtifact(id: string, name: string): Promise<Uint8Array> {
    return readArtifact(this.broker, swarmKeys(checkSessionId(id)), name);
  }

  /** On this machine, whoever asks. */
  artifactsOf(id: string): string {
    return join(this.folder(id), 'artifacts');
  }

  async remove(id: string): Promise<number> {
    const [end = 0] = await this.removeAll([id]);
    if (typeof end === 'number') return end;
    throw end;
  }

  async removeAll(ids: readonly string[]): Promise<readonly Removal[]> {
    const leads = await Promise.all(ids.map((id) => orRefusal(() => this.takeAny(id))));
    const taken = leads.filter((lead): lead is Scope => !(lead instanceof SkeinError));
    const ends = await removeSwarms(this.broker, taken);
    const complete = async (lead: Scope | SkeinError): Promise<number> => {
      if (lead instanceof SkeinError) throw lead;
      const end = ends.get(lead.swarm) ?? 0;
      if (typeof end !== 'number') throw end;
      const { folder } = this.options;
      const hasFolder = fs.existsSync(join(folder, lead.swarm));
      return end + (hasFolder ? removeFolder(folder, lead.swarm) : 0);
    };
    return Promise.all(leads.map((lead) => orRefusal(() => complete(lead))));
  }

  mailbox(id: string): Mailbox {
    return this.options.mailbox(checkSessionId(id));
  }

  workList(id: string): SharedTaskList {
    return this.options.workList(checkSessionId(id));
  }

  questions(id: string): QuestionDesk {
    return this.options.questions(checkSessionId(id));
  }

  /** Sessions that are still open lose their leases when those run out. */
  async close(): Promise<void> {
    this.keeper.close();
  }

  private folder(id: string): string {
    return join(this.options.folder, checkSessionId(id));
  }

  private means() {
    const { broker, clock, redact = (text: string) => text } = this.options;
    return { broker, keeper: this.keeper, clock, redact };
  }

  private async own(meta: SessionMeta): Promise<Session> {
    const { broker } = this;
    const folder = this.folder(meta.id);
    const lead = await this.keeper.take(meta.id);
    try {
      const mirror = startMirror(broker, meta.id, folder);
      const stopUpkeep = startUpkeep(broker, meta.id);
      lead.lost.addEventListener('abort', () => mirror.stop());
      await listMeta(broker, meta);
      const session = new RedisSession(meta, {
        ...this.means(),
        folder,
        lead,
        closed: async () => {
          stopUpkeep();
          this.sessions.delete(session);
          await mirror.complete();
        },
      });
      this.sessions.add(session);
      return session;
    } catch (error) {
      await lead.release();
      throw error;
    }
  }

  /** Also one of which nothing can be read. */
  private async takeAny(id: string): Promise<Scope> {
    const { meta } = swarmKeys(checkSessionId(id));
    if ((await this.broker.call('EXISTS', meta)) !== 1) throw noSession(id);
    return this.keeper.take(id);
  }

  /** What was written here is there before it is looked for. */
  private async settled(id: string, agent?: string): Promise<SwarmKeys> {
    checkSessionId(id);
    if (agent !== undefined) journalPath(id, agent);
    const own = [...this.sessions].filter(({ meta }) => meta.id === id);
    await Promise.all(own.map((session) => session.settled()));
    return swarmKeys(id);
  }
}

const eventsIn = (lines: readonly string[]): readonly SwarmEvent[] =>
  lines.flatMap((line) => parseEvent(line) ?? []);
