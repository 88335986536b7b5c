/**
 * A session in Redis: that of its lead, which has its lease and may write for all agents that nobody else
 * has, or of one who visits it for agents that were handed over.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../protocol/clock.js';
import { StorageError } from '../../../protocol/errors.js';
import type { SwarmEvent } from '../../../protocol/session/events.js';
import type { Fence } from '../../../protocol/session/mailbox.js';
import type {
  Adoption,
  Journal,
  JournalContents,
  SessionMeta,
  WorkerSession,
} from '../../../protocol/session/store.js';
import { parseEvent } from '../../files/journal/event-index.js';
import { journalPath } from '../../files/journal/journal-place.js';
import { RedisHints, unlessAway } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { type SwarmKeys, swarmKeys } from '../connection/redis-keys.js';
import { GroupCommit, takenFrom } from '../journal/group-commit.js';
import { piecesOf } from '../journal/long-lines.js';
import { type OpenedList, openList } from '../journal/open-journal.js';
import { RedisJournal } from '../journal/redis-journal.js';
import type { Scope, WriteScopes } from '../leases/write-scopes.js';
import { lossOf } from './mirrored-list.js';
import { ARTIFACTS_HINT, putArtifact, readArtifact } from './swarm-artifacts.js';
import { writeMeta } from './swarm-meta.js';

export interface RedisSessionOptions {
  readonly broker: RedisConnections;
  readonly keeper: WriteScopes;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  /** Where this machine keeps what belongs to it. */
  readonly folder: string;
  /** Undefined for one who visits. */
  readonly lead: Scope | undefined;
  /** It will not be used any more; what waits for that is done then. */
  readonly closed: () => Promise<void>;
}

export class RedisSession implements WorkerSession {
  meta: SessionMeta;
  readonly epoch: number;
  readonly lost: AbortSignal;
  private readonly options: RedisSessionOptions;
  private readonly keys: SwarmKeys;
  private readonly commit: GroupCommit;
  private readonly adopted = new Map<string, Scope>();
  /** Agents that were adopted only to write something for them: this process lets go of them with their journals. */
  private readonly borrowed = new Set<string>();
  /** Of each agent that has written here: what lets it. */
  private readonly scopes = new Map<string, Scope>();
  private readonly journals = new Map<string, Promise<RedisJournal>>();
  private readonly ending = new Map<string, Promise<void>>();
  private isClosed = false;

  constructor(meta: SessionMeta, options: RedisSessionOptions) {
    this.meta = meta;
    this.options = options;
    this.keys = swarmKeys(meta.id);
    this.epoch = options.lead?.epoch ?? 0;
    this.lost = options.lead?.lost ?? new AbortController().signal;
    this.commit = new GroupCommit(options.broker, this.keys, options.folder);
  }

  async journal(agent: string, parent: string | null): Promise<Journal> {
    const open = this.journals.get(agent);
    if (open !== undefined) return open;
    // Whoever comes too late is not its owner any more (law 8).
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
    if (this.isClosed) throw new StorageError(`The session ${this.meta.id} is closed.`);
    journalPath(this.options.folder, agent);
    const scope = await this.options.keeper.adopt(this.meta.id, agent);
    this.adopted.set(agent, scope);
    this.scopes.set(agent, scope);
    return { epoch: scope.epoch, lost: scope.lost, release: () => this.release(scope) };
  }

  heedArtifacts(listener: () => void): () => void {
    const hints = new RedisHints(this.options.broker, this.keys.hints);
    return hints.listen((hint) => hint === ARTIFACTS_HINT && listener(), listener);
  }

  async reclaim(agent: string): Promise<void> {
    await this.adopt(agent);
    this.borrowed.add(agent);
  }

  /** Where its copy is: only the lead has one. */
  journalFile(agent: string): string | undefined {
    return this.options.lead && journalPath(this.options.folder, agent);
  }

  /** What the lead's process says goes by its own lease, whoever it speaks for. */
  fenceOf(agent: string): Fence | undefined {
    const scope = this.options.lead ?? this.scopes.get(agent);
    return scope && { scope: scope.name, claim: scope.claim };
  }

  async readEvents(from = 1, to = Number.POSITIVE_INFINITY): Promise<readonly SwarmEvent[]> {
    await this.settled();
    const found: SwarmEvent[] = [];
    const { events } = this.keys;
    for await (const lines of piecesOf(this.options.broker, this.keys, events, from - 1, to)) {
      found.push(...lines.flatMap((line) => parseEvent(line) ?? []));
    }
    return found;
  }

  /** What is known of a session is for its lead to say. */
  async updateMeta(change: Partial<SessionMeta>): Promise<void> {
    const { broker, lead } = this.options;
    if (lead === undefined) return;
    const meta = { ...this.meta, ...change };
    await writeMeta(broker, lead, meta);
    this.meta = meta;
  }

  async putArtifact(name: string, bytes: Uint8Array): Promise<void> {
    const held = [this.options.lead, ...this.adopted.values()];
    const scope = held.find((one) => one?.lost.aborted === false) ?? held.at(-1);
    if (scope === undefined) throw this.notHandedOver();
    await putArtifact(this.options.broker, this.keys, scope, name, bytes);
  }

  async readArtifact(name: string): Promise<Uint8Array> {
    return readArtifact(this.options.broker, this.keys, name);
  }

  artifactDirectory(): string {
    const directory = join(this.options.folder, 'artifacts');
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    return directory;
  }

  /** Everything written so far was taken or refused. Never rejects. */
  settled(): Promise<void> {
    return this.commit.settled();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    const agents = [...this.journals.keys()];
    const ends = [...agents.map((agent) => this.closeJournal(agent)), ...this.ending.values()];
    const outcomes = await Promise.allSettled(ends);
    let failure = rejectionIn(outcomes);
    const leaving = this.leave().catch((error: unknown) => {
      failure ??= error as Error;
    });
    // Redis frees what nobody renews: one that is away need not hear of it now.
    await unlessAway(this.options.broker, leaving);
    // That it was lost has been said.
    if (failure !== undefined && !this.lost.aborted) throw failure;
  }

  private async leave(): Promise<void> {
    try {
      await this.options.closed();
    } finally {
      for (const scope of this.adopted.values()) await scope.release();
      await this.options.lead?.release();
    }
  }

  private async openJournal(agent: string, parent: string | null): Promise<RedisJournal> {
    await this.ending.get(agent)?.catch(() => {});
    const { broker, clock, redact, lead } = this.options;
    let scope = this.scopeOf(agent, parent);
    let opened = await openList(broker, this.keys, agent, scope);
    if (opened === 'newer' && !this.adopted.has(agent)) {
      // A worker had it and has let go: what is written now has to be newer than what that wrote.
      await this.reclaim(agent);
      scope = this.scopeOf(agent, parent);
      opened = await openList(broker, this.keys, agent, scope);
    }
    if (opened === 'newer') {
      this.loseIfItsOwn(agent, scope, takenFrom(agent));
      throw takenFrom(agent);
    }
    this.scopes.set(agent, scope);
    const fenced = (why: StorageError) => this.loseIfItsOwn(agent, scope, why);
    // Whoever takes it next goes on where the list ends; a lead says what went wrong, and ends.
    const refused = scope === lead ? () => {} : fenced;
    return new RedisJournal({
      agent,
      parent,
      scope,
      length: opened.length,
      past: this.withLosses(agent, opened),
      commit: this.commit,
      clock,
      redact,
      fenced,
      refused,
    });
  }

  /** The one that was adopted, and whoever works for it here. */
  private scopeOf(agent: string, parent: string | null): Scope {
    const scope = this.adopted.get(agent) ?? this.scopes.get(parent ?? '') ?? this.options.lead;
    if (scope !== undefined) return scope;
    throw this.notHandedOver();
  }

  /** What Redis took once and has no more is known by the copy. */
  private withLosses(agent: string, { past, length }: OpenedList): JournalContents {
    const path = this.journalFile(agent);
    const loss = path === undefined ? undefined : lossOf(path, length);
    return loss === undefined ? past : { ...past, damage: [...past.damage, loss] };
  }

  /** Without its own journal nothing can be done; one who works for it may have been handed to another. */
  private loseIfItsOwn(agent: string, scope: Scope, why: StorageError): void {
    const own = scope === this.options.lead ? this.meta.lead : scope.name;
    if (agent === own && !scope.lost.aborted) scope.lose(why);
  }

  private async release(scope: Scope): Promise<void> {
    const agents = [...this.scopes].flatMap(([agent, one]) => (one === scope ? [agent] : []));
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
      await this.giveBack(agent).finally(() => this.ending.delete(agent));
    }
  }

  /** Whoever it is handed to next has it under an epoch of its own. */
  private async giveBack(agent: string): Promise<void> {
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
