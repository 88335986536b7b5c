/**
 * A session in Redis, opened by its lead or by a worker. The lead has the lease of the session and
 * writes for all agents without another holder. A worker writes for the agents that it has adopted.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../protocol/clock.js';
import type { Journal, JournalContents } from '../../../protocol/session/journal.js';
import type { Fence } from '../../../protocol/session/mailbox.js';
import type {
  Adoption,
  StoreLosses,
  WorkerSession,
} from '../../../protocol/session/owned-session.js';
import type { SessionMeta } from '../../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../../protocol/session/swarm-event.js';
import { StorageError, UncheckedStoreError } from '../../../protocol/skein-error.js';
import { parseEvent } from '../../files/journal/event-index.js';
import { journalPath } from '../../files/journal/journal-file.js';
import { ChangeHints } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { waitUnlessAway } from '../connection/redis-outage.js';
import { type SwarmKeys, swarmKeys } from '../connection/swarm-keys.js';
import { agentTakenOver, GroupCommit } from '../journal/group-commit.js';
import { listLines } from '../journal/list-lines.js';
import { type OpenedJournal, openJournal, readRedisJournal } from '../journal/open-journal.js';
import { RedisJournal } from '../journal/redis-journal.js';
import { isServerChecked, type ServerCheck } from '../leases/server-check.js';
import type { Scope, WriteScopes } from '../leases/write-scopes.js';
import { lostRecords, withoutStored } from './lost-records.js';
import { lossOf } from './mirrored-list.js';
import { ARTIFACTS_HINT, putSwarmArtifact, readSwarmArtifact } from './swarm-artifacts.js';
import { swarmMeta } from './swarm-meta.js';

interface RedisSessionOptions {
  readonly redis: RedisConnections;
  readonly writeScopes: WriteScopes;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  /** Folder of the session on this machine. */
  readonly folder: string;
  /** Scope of the lead. Undefined in a worker. */
  readonly lead: Scope | undefined;
  /** Undefined in a worker. */
  readonly serverCheck?: ServerCheck;
  /** Called when the session is closed. `close` waits for it. */
  readonly onClose: () => Promise<void>;
}

export class RedisSession implements WorkerSession {
  meta: SessionMeta;
  readonly epoch: number;
  readonly lost: AbortSignal;
  private readonly options: RedisSessionOptions;
  private readonly keys: SwarmKeys;
  private readonly commit: GroupCommit;
  private readonly adopted = new Map<string, Scope>();
  /**
   * Agents that were adopted only to write some records. Their scope is released with their
   * journal.
   */
  private readonly borrowed = new Set<string>();
  /** Scope under which each agent writes in this process. */
  private readonly scopes = new Map<string, Scope>();
  private readonly journals = new Map<string, Promise<RedisJournal>>();
  private readonly ending = new Map<string, Promise<void>>();
  private isClosed = false;
  readonly losses: StoreLosses | undefined;
  private readonly stopListening: () => void;

  constructor(meta: SessionMeta, options: RedisSessionOptions) {
    this.meta = meta;
    this.options = options;
    this.keys = swarmKeys(meta.id);
    this.epoch = options.lead?.epoch ?? 0;
    this.lost = options.lead?.lost ?? new AbortController().signal;
    const { redis, lead, folder, serverCheck, writeScopes } = options;
    this.commit = new GroupCommit(redis, this.keys, lead && folder);
    this.losses = serverCheck && {
      recordsOf: async (agent) => {
        const path = journalPath(folder, agent);
        const lost = lostRecords(path, (await readRedisJournal(redis, this.keys, agent)).records);
        if (lost.length === 0) return lost;
        // The copy may have got later records than the journal that was read.
        const { records } = await readRedisJournal(redis, this.keys, agent);
        return withoutStored(lost, records);
      },
      onServerChange: (check) => serverCheck.start(check),
    };
    this.stopListening = redis.listen((outage) => {
      if (outage !== undefined) return;
      void writeScopes.renew();
      void this.verifyJournals();
    });
  }

  async journal(agent: string, parent: string | null): Promise<Journal> {
    const existing = this.journals.get(agent);
    if (existing !== undefined) return existing;
    // The lease is released, so this process may not write any more (law 8).
    if (this.isClosed) throw new StorageError(`The session ${this.meta.id} is closed.`);
    journalPath(this.options.folder, agent);
    const opening = this.openJournal(agent, parent);
    this.journals.set(agent, opening);
    opening.catch(() => this.journals.delete(agent));
    return opening;
  }

  async closeJournal(agent: string): Promise<void> {
    const opening = this.journals.get(agent);
    if (opening === undefined) return this.ending.get(agent);
    this.journals.delete(agent);
    const ending = this.endJournal(agent, opening);
    this.ending.set(agent, ending);
    return ending;
  }

  async adopt(agent: string): Promise<Adoption> {
    if (!(await isServerChecked(this.options.redis, this.keys))) {
      throw new UncheckedStoreError(
        `Redis was restarted or replaced, and the lead of session ${this.meta.id} has not checked yet whether records are lost: the agent waits for the lead.`,
      );
    }
    return this.claim(agent);
  }

  private async claim(agent: string): Promise<Adoption> {
    if (this.isClosed) throw new StorageError(`The session ${this.meta.id} is closed.`);
    journalPath(this.options.folder, agent);
    const scope = await this.options.writeScopes.adopt(this.meta.id, agent);
    this.adopted.set(agent, scope);
    this.scopes.set(agent, scope);
    return { epoch: scope.epoch, lost: scope.lost, release: () => this.release(scope) };
  }

  onArtifactsChange(listener: () => void): () => void {
    const hints = new ChangeHints(this.options.redis, this.keys.hints);
    return hints.listen((hint) => hint === ARTIFACTS_HINT && listener(), listener);
  }

  async takeBack(agent: string): Promise<void> {
    await this.claim(agent);
    this.borrowed.add(agent);
  }

  /** Returns the path of the copy. Returns undefined in a worker, which has no copy. */
  journalFile(agent: string): string | undefined {
    return this.options.lead && journalPath(this.options.folder, agent);
  }

  /** In the lead's process the lead's scope is the fence of all agents. */
  fenceOf(agent: string): Fence | undefined {
    const scope = this.options.lead ?? this.scopes.get(agent);
    return scope && { scope: scope.name, claim: scope.claim };
  }

  async readEvents(from = 1, to = Number.POSITIVE_INFINITY): Promise<readonly SwarmEvent[]> {
    await this.settled();
    const result: SwarmEvent[] = [];
    const { events } = this.keys;
    for await (const lines of listLines(this.options.redis, this.keys, events, from - 1, to)) {
      result.push(...lines.flatMap((line) => parseEvent(line) ?? []));
    }
    return result;
  }

  /** No effect in a worker, because only the lead writes the metadata. */
  async updateMeta(change: Partial<SessionMeta>): Promise<void> {
    const { redis, lead } = this.options;
    if (lead === undefined) return;
    const meta = { ...this.meta, ...change };
    await swarmMeta.write(redis, lead, meta);
    this.meta = meta;
  }

  async putArtifact(name: string, bytes: Uint8Array): Promise<void> {
    const scopes = [this.options.lead, ...this.adopted.values()];
    const scope = scopes.find((candidate) => candidate?.lost.aborted === false) ?? scopes.at(-1);
    if (scope === undefined) throw this.notHandedOver();
    await putSwarmArtifact(this.options.redis, this.keys, scope, name, bytes);
  }

  async readArtifact(name: string): Promise<Uint8Array> {
    return readSwarmArtifact(this.options.redis, this.keys, name);
  }

  artifactDirectory(): string {
    const directory = join(this.options.folder, 'artifacts');
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    return directory;
  }

  /** Resolves when all records written so far are stored or refused. Never rejects. */
  settled(): Promise<void> {
    return this.commit.settled();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.stopListening();
    this.options.serverCheck?.stop();
    const agents = [...this.journals.keys()];
    const ends = [...agents.map((agent) => this.closeJournal(agent)), ...this.ending.values()];
    const outcomes = await Promise.allSettled(ends);
    let failure = rejectionIn(outcomes);
    const leaving = this.releaseScopes().catch((error: unknown) => {
      failure ??= error as Error;
    });
    // Leases expire without a release, so do not wait for a Redis that is away.
    await waitUnlessAway(this.options.redis, leaving);
    // A lost session was reported through `lost`.
    if (failure !== undefined && !this.lost.aborted) throw failure;
  }

  /** Detects lost records at once, because an agent may not write for a long time. Never rejects. */
  private async verifyJournals(): Promise<void> {
    const opened = await Promise.allSettled([...this.journals.values()]);
    const journals = opened.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value] : [],
    );
    await Promise.all(journals.map((journal) => this.commit.verify(journal)));
  }

  private async releaseScopes(): Promise<void> {
    try {
      await this.options.onClose();
    } finally {
      for (const scope of this.adopted.values()) await scope.release();
      await this.options.lead?.release();
    }
  }

  private async openJournal(agent: string, parent: string | null): Promise<RedisJournal> {
    await this.ending.get(agent)?.catch(() => {});
    const { redis, clock, redact, lead } = this.options;
    let scope = this.scopeOf(agent, parent);
    let opened = await openJournal(redis, this.keys, agent, scope);
    if (opened === 'newer' && !this.adopted.has(agent)) {
      // A worker has released the agent: later records need a newer epoch than the worker's.
      await this.takeBack(agent);
      scope = this.scopeOf(agent, parent);
      opened = await openJournal(redis, this.keys, agent, scope);
    }
    if (opened === 'newer') {
      this.loseIfItsOwn(agent, scope, agentTakenOver(agent));
      throw agentTakenOver(agent);
    }
    this.scopes.set(agent, scope);
    const onFenced = (why: StorageError) => this.loseIfItsOwn(agent, scope, why);
    // An adopted agent is lost on a refusal, because its next holder continues from the list. A
    // lead only reports the refusal.
    const onRefused = scope === lead ? () => {} : onFenced;
    return new RedisJournal({
      agent,
      parent,
      scope,
      length: opened.length,
      past: this.withLosses(agent, opened),
      commit: this.commit,
      clock,
      redact,
      onFenced,
      onRefused,
    });
  }

  /**
   * Returns the adopted scope of the agent or of its parent, else the lead's. Throws StorageError
   * if there is none.
   */
  private scopeOf(agent: string, parent: string | null): Scope {
    const scope = this.adopted.get(agent) ?? this.scopes.get(parent ?? '') ?? this.options.lead;
    if (scope !== undefined) return scope;
    throw this.notHandedOver();
  }

  /** Adds records that the copy has and Redis has lost to the damage report. */
  private withLosses(agent: string, { past, length }: OpenedJournal): JournalContents {
    const path = this.journalFile(agent);
    const loss = path === undefined ? undefined : lossOf(path, length);
    return loss === undefined ? past : { ...past, damage: [...past.damage, loss] };
  }

  /**
   * Loses the scope if its own agent's journal is refused. A descendant may have been handed to
   * another process.
   */
  private loseIfItsOwn(agent: string, scope: Scope, why: StorageError): void {
    const ownAgent = scope === this.options.lead ? this.meta.lead : scope.name;
    if (agent === ownAgent && !scope.lost.aborted) scope.lose(why);
  }

  private async release(scope: Scope): Promise<void> {
    const agents = [...this.scopes].flatMap(([agent, agentScope]) =>
      agentScope === scope ? [agent] : [],
    );
    const outcomes = await Promise.allSettled(agents.map((agent) => this.closeJournal(agent)));
    for (const agent of agents) this.scopes.delete(agent);
    if (this.adopted.get(scope.name) === scope) this.adopted.delete(scope.name);
    await scope.release();
    const failure = rejectionIn(outcomes);
    if (failure !== undefined && !scope.lost.aborted) throw failure;
  }

  private async endJournal(agent: string, opening: Promise<RedisJournal>): Promise<void> {
    try {
      const journal = await opening;
      await journal.end();
    } finally {
      await this.releaseBorrowed(agent).finally(() => this.ending.delete(agent));
    }
  }

  /** Releases an agent that was adopted only to write some records. */
  private async releaseBorrowed(agent: string): Promise<void> {
    const scope = this.adopted.get(agent);
    if (!this.borrowed.delete(agent) || scope === undefined) return;
    this.adopted.delete(agent);
    this.scopes.delete(agent);
    await scope.release();
  }

  private notHandedOver(): StorageError {
    return new StorageError(`No agent of session ${this.meta.id} was handed over to this process.`);
  }
}

const rejectionIn = (outcomes: readonly PromiseSettledResult<unknown>[]): Error | undefined =>
  outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
