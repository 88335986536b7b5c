/** Stores sessions in Redis. Several processes on several machines can run agents of a session. */
import fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../protocol/clock.js';
import type { JobQueue } from '../../../protocol/session/job-queue.js';
import type { JournalContents } from '../../../protocol/session/journal.js';
import type { JournalRecord } from '../../../protocol/session/journal-record.js';
import type { LeaseHolder } from '../../../protocol/session/leases.js';
import type { Mailbox } from '../../../protocol/session/mailbox.js';
import type { OwnedSession, WorkerSession } from '../../../protocol/session/owned-session.js';
import type { QuestionStore } from '../../../protocol/session/question-board.js';
import type {
  EventWatch,
  Outages,
  RecordWatch,
  Removal,
  SessionMeta,
  SessionStore,
  SessionSurvey,
} from '../../../protocol/session/session-store.js';
import type { SharedTaskList } from '../../../protocol/session/shared-task-list.js';
import type { SwarmEvent } from '../../../protocol/session/swarm-event.js';
import { SkeinError } from '../../../protocol/skein-error.js';
import { parseEvent } from '../../files/journal/event-index.js';
import { journalPath } from '../../files/journal/journal-file.js';
import { recordReader, watchLines } from '../../files/journal/read-journal.js';
import type { LeaseOwner } from '../../files/leases/lease-file.js';
import { refuseFiles } from '../../files/mark-mirror.js';
import { missingSession } from '../../files/missing-session.js';
import { removeSession } from '../../files/remove-session.js';
import { checkSessionId } from '../../shared/check-session-id.js';
import { orRefusal } from '../../shared/remove-each.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { LEASE_MS, type SwarmKeys, swarmKeys } from '../connection/swarm-keys.js';
import { FollowedList } from '../journal/followed-list.js';
import { listLines } from '../journal/list-lines.js';
import { readRedisJournal } from '../journal/open-journal.js';
import { acceptServer, ServerCheck } from '../leases/server-check.js';
import { startKeyChecks } from '../leases/start-key-checks.js';
import { type LocalOwners, RedisLeases, type Scope, WriteScopes } from '../leases/write-scopes.js';
import { RedisSession } from './redis-session.js';
import { removeSwarms } from './remove-swarms.js';
import { startRenewingExpiry } from './renew-expiry.js';
import { startSessionMirror } from './session-mirror.js';
import { readSwarmArtifact } from './swarm-artifacts.js';
import { noSession, swarmMeta } from './swarm-meta.js';

interface RedisSessionStoreOptions {
  /** The caller closes the connections and the queue after the store. */
  readonly redis: RedisConnections;
  readonly owner: LeaseOwner;
  readonly leaseMs?: number;
  /** Default: all processes of this machine count as alive. */
  readonly local?: LocalOwners;
  readonly clock: Clock;
  /** Removes secrets from events, which quote commands and errors. Default: no redaction. */
  readonly redact?: (text: string) => string;
  /** Folder on this machine with a folder per session, for tool outputs and the lead's copy. */
  readonly folder: string;
  readonly jobs: JobQueue;
  readonly mailbox: (id: string) => Mailbox;
  readonly workList: (id: string) => SharedTaskList;
  readonly questions: (id: string) => QuestionStore;
}

export class RedisSessionStore implements SessionStore {
  readonly jobs: JobQueue;
  readonly outages: Outages;
  private readonly options: RedisSessionStoreOptions;
  private readonly redis: RedisConnections;
  private readonly scopes: WriteScopes;
  private readonly leases: RedisLeases;
  private readonly sessions = new Set<RedisSession>();

  constructor(options: RedisSessionStoreOptions) {
    this.options = options;
    this.jobs = options.jobs;
    this.redis = options.redis;
    this.outages = options.redis;
    const { redis, owner, leaseMs, local } = options;
    this.scopes = new WriteScopes(redis, owner, leaseMs, local);
    this.leases = new RedisLeases(redis, this.scopes, local);
  }
  async create(meta: SessionMeta): Promise<OwnedSession> {
    const folder = this.folder(meta.id);
    refuseFiles(folder, meta.id);
    await swarmMeta.create(this.redis, meta);
    await acceptServer(this.redis, swarmKeys(meta.id));
    return this.own(meta);
  }

  async open(id: string): Promise<OwnedSession> {
    refuseFiles(this.folder(id), id);
    return this.own(await swarmMeta.read(this.redis, id), true);
  }

  async openAsWorker(id: string): Promise<WorkerSession> {
    const folder = this.folder(id);
    const meta = await swarmMeta.read(this.redis, id);
    const session = new RedisSession(meta, {
      ...this.sessionDeps(),
      folder,
      lead: undefined,
      onClose: async () => void this.sessions.delete(session),
    });
    this.sessions.add(session);
    return session;
  }

  async list(): Promise<readonly SessionMeta[]> {
    return (await this.survey()).sessions;
  }

  async survey(): Promise<SessionSurvey> {
    return swarmMeta.survey(this.redis);
  }

  async holder(id: string): Promise<LeaseHolder | undefined> {
    return this.leases.holder(id);
  }

  async agents(id: string): Promise<readonly string[]> {
    const { agents } = await this.settled(id);
    return ((await this.redis.call('HKEYS', agents)) as string[]).sort();
  }

  async *events(id: string): AsyncGenerator<SwarmEvent, void> {
    const keys = await this.settled(id);
    for await (const lines of listLines(this.redis, keys, keys.events)) yield* eventsIn(lines);
  }

  watch(id: string): EventWatch {
    checkSessionId(id);
    const lines = new FollowedList(this.redis, swarmKeys(id), swarmKeys(id).events);
    return {
      next: async () => {
        await this.settled(id);
        for (;;) {
          const added = await lines.next();
          if (added === undefined) return [];
          const events = eventsIn(added);
          if (events.length > 0) return events;
        }
      },
    };
  }

  async *records(id: string, agent: string): AsyncGenerator<JournalRecord, void> {
    const keys = await this.settled(id, agent);
    const list = keys.journal(agent);
    const recordIn = recordReader(list);
    for await (const lines of listLines(this.redis, keys, list)) {
      for (const line of lines) {
        const record = recordIn(line);
        if (record !== undefined) yield record;
      }
    }
  }

  watchRecords(id: string, agent: string): RecordWatch {
    const keys = swarmKeys(checkSessionId(id));
    const list = keys.journal(agent);
    const lines = new FollowedList(this.redis, keys, list);
    const nextLines = async () => {
      await this.settled(id, agent);
      return lines.next();
    };
    return watchLines(nextLines, list);
  }

  async readJournal(id: string, agent: string, upTo?: number): Promise<JournalContents> {
    return readRedisJournal(this.redis, await this.settled(id, agent), agent, undefined, upTo);
  }

  async readArtifact(id: string, name: string): Promise<Uint8Array> {
    return readSwarmArtifact(this.redis, swarmKeys(checkSessionId(id)), name);
  }

  /** Returns the folder on this machine. */
  artifactsOf(id: string): string {
    return join(this.folder(id), 'artifacts');
  }

  async remove(id: string): Promise<number> {
    const [result = 0] = await this.removeAll([id]);
    if (typeof result === 'number') return result;
    throw result;
  }

  async removeAll(ids: readonly string[]): Promise<readonly Removal[]> {
    const leads = await Promise.all(ids.map((id) => orRefusal(() => this.takeLead(id))));
    const taken = leads.filter((lead): lead is Scope => !(lead instanceof SkeinError));
    const results = await removeSwarms(this.redis, taken);
    const complete = async (lead: Scope | SkeinError): Promise<number> => {
      if (lead instanceof SkeinError) throw lead;
      const result = results.get(lead.swarm) ?? 0;
      if (typeof result !== 'number') throw result;
      const { folder } = this.options;
      const hasFolder = fs.existsSync(join(folder, lead.swarm));
      return result + (hasFolder ? removeSession(folder, lead.swarm) : 0);
    };
    return Promise.all(leads.map((lead) => orRefusal(() => complete(lead))));
  }

  missing(query: string | undefined, cwd: string): string | undefined {
    return missingSession(this.options.folder, query, cwd, this.redis.shown);
  }

  mailbox(id: string): Mailbox {
    return this.options.mailbox(checkSessionId(id));
  }

  taskList(id: string): SharedTaskList {
    return this.options.workList(checkSessionId(id));
  }

  questions(id: string): QuestionStore {
    return this.options.questions(checkSessionId(id));
  }

  /** Stops the renewal of leases. The leases of open sessions expire. */
  async close(): Promise<void> {
    this.scopes.close();
  }

  private folder(id: string): string {
    return join(this.options.folder, checkSessionId(id));
  }

  private sessionDeps() {
    const { redis, clock, redact = (text: string) => text } = this.options;
    return { redis, writeScopes: this.scopes, clock, redact };
  }

  private async own(meta: SessionMeta, waits = false): Promise<OwnedSession> {
    const { redis } = this;
    const folder = this.folder(meta.id);
    const lead = await this.scopes.take(meta.id, undefined, waits);
    try {
      const mirror = startSessionMirror(redis, meta.id, folder);
      const stopUpkeep = startRenewingExpiry(redis, meta.id);
      lead.lost.addEventListener('abort', () => mirror.stop());
      await swarmMeta.list(redis, meta);
      const { leaseMs = LEASE_MS } = this.options;
      const serverCheck = new ServerCheck(redis, swarmKeys(meta.id), lead, leaseMs / 3);
      const endKeyChecks = startKeyChecks(redis, lead, meta.lead, this.jobs, leaseMs / 3);
      const session = new RedisSession(meta, {
        ...this.sessionDeps(),
        folder,
        lead,
        serverCheck,
        onClose: async () => {
          endKeyChecks();
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

  /** Takes the lease of a session, even if its metadata is unreadable. */
  private async takeLead(id: string): Promise<Scope> {
    const { meta } = swarmKeys(checkSessionId(id));
    if ((await this.redis.call('EXISTS', meta)) !== 1) throw noSession(id);
    return this.scopes.take(id);
  }

  /** Waits until the records of this process are stored, so that the next read finds them. */
  private async settled(id: string, agent?: string): Promise<SwarmKeys> {
    checkSessionId(id);
    if (agent !== undefined) journalPath(id, agent);
    const openSessions = [...this.sessions].filter(({ meta }) => meta.id === id);
    await Promise.all(openSessions.map((session) => session.settled()));
    return swarmKeys(id);
  }
}

const eventsIn = (lines: readonly string[]): readonly SwarmEvent[] =>
  lines.flatMap((line) => parseEvent(line) ?? []);
