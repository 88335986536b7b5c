/**
 * Copies a session from Redis to files in the layout of the embedded store. The lead's process
 * makes the copy, for people and their tools and in case Redis loses data.
 */
import { join } from 'node:path';
import { readRegularFile } from '../../files/io/open-regular-file.js';
import { replaceStoredFile } from '../../files/io/replace-stored-file.js';
import { DescriptorPool } from '../../files/journal/descriptor-pool.js';
import { isJournalOwner, journalPath } from '../../files/journal/journal-file.js';
import { markMirror } from '../../files/mark-mirror.js';
import { COUNT_HINT } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { type SwarmKeys, swarmKeys } from '../connection/swarm-keys.js';
import { EVENTS_HINT } from '../journal/append-records.js';
import { readBlob, sha256 } from '../journal/put-blob.js';
import { MirroredList } from './mirrored-list.js';
import { ARTIFACTS_HINT, isArtifactName, swarmArtifacts } from './swarm-artifacts.js';
import { META_HINT } from './swarm-meta.js';

/** Delay before changes are copied, to copy several of them together. */
const DELAY_MS = 250;
/**
 * A copy is followed by a delay of four times its duration, so that copying takes a fifth of the
 * time.
 */
const DELAYS_PER_COPY = 4;
const MAX_DELAY_MS = 5_000;

export interface SessionMirror {
  /** Stops copying. */
  stop(): void;
  /** Copies the rest and stops. Rejects if the copy fails. */
  complete(): Promise<void>;
}

export const startSessionMirror = (
  redis: RedisConnections,
  swarm: string,
  folder: string,
): SessionMirror => {
  markMirror(folder, swarm, redis.shown);
  return new RunningMirror(redis, swarmKeys(swarm), folder);
};

class RunningMirror implements SessionMirror {
  private readonly redis: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly folder: string;
  private readonly descriptors = new DescriptorPool();
  private readonly events: MirroredList;
  private readonly journals = new Map<string, MirroredList>();
  private readonly artifacts = new Map<string, string>();
  private meta = '';
  private delay = DELAY_MS;
  /** Agents with records that are not copied yet. Undefined until the files have been compared. */
  private behind: Set<string> | undefined;
  private readonly hints = new Set<string>();
  private readonly unsubscribe: () => void;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  constructor(redis: RedisConnections, keys: SwarmKeys, folder: string) {
    this.redis = redis;
    this.keys = keys;
    this.folder = folder;
    this.events = new MirroredList(
      redis,
      keys,
      keys.events,
      join(folder, 'events.jsonl'),
      this.descriptors,
    );
    this.unsubscribe = redis.subscribe(
      keys.hints,
      (hint) => {
        if (!hint.startsWith(COUNT_HINT)) this.onHint(hint);
      },
      () => this.onHint(META_HINT, ARTIFACTS_HINT, EVENTS_HINT),
    );
  }

  stop(): void {
    this.isStopped = true;
    this.unsubscribe();
    clearTimeout(this.timer);
    for (const list of [this.events, ...this.journals.values()]) list.close();
  }

  async complete(): Promise<void> {
    if (this.isStopped) return;
    this.unsubscribe();
    clearTimeout(this.timer);
    await this.running;
    this.hints.add(META_HINT).add(ARTIFACTS_HINT).add(EVENTS_HINT);
    try {
      await this.copy();
    } finally {
      this.stop();
    }
  }

  private onHint(...hints: readonly string[]): void {
    for (const hint of hints) this.hints.add(hint);
    if (this.isStopped || this.running !== undefined) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const startedAt = Date.now();
      // A failed copy is repeated next time; `complete` reports the last failure.
      this.running = this.copy()
        .catch(() => {})
        .then(() => {
          this.running = undefined;
          const delay = DELAYS_PER_COPY * (Date.now() - startedAt);
          this.delay = Math.min(Math.max(DELAY_MS, delay), MAX_DELAY_MS);
          if (this.hints.size > 0) this.onHint();
        });
    }, this.delay).unref();
  }

  private async copy(): Promise<void> {
    const hints = new Set(this.hints);
    this.hints.clear();
    if (hints.has(META_HINT)) await this.copyMeta();
    if (hints.has(ARTIFACTS_HINT)) await this.copyArtifacts();
    if (hints.has(EVENTS_HINT)) await this.copyRecords();
  }

  private async copyMeta(): Promise<void> {
    const text = await this.redis.call('GET', this.keys.meta);
    if (typeof text !== 'string' || text === this.meta || this.isStopped) return;
    replaceStoredFile(join(this.folder, 'session.json'), text);
    this.meta = text;
  }

  private async copyArtifacts(): Promise<void> {
    for (const [name, digest] of await swarmArtifacts(this.redis, this.keys)) {
      if (this.artifacts.get(name) === digest || !isArtifactName(name)) continue;
      const path = join(this.folder, 'artifacts', name);
      // Agents on this machine write their artifacts to this folder themselves.
      if (!isKeptAt(path, digest)) {
        const bytes = await readBlob(this.redis, this.keys, digest);
        if (this.isStopped) return;
        replaceStoredFile(path, bytes);
      }
      this.artifacts.set(name, digest);
    }
  }

  private async copyRecords(): Promise<void> {
    const behind = this.behind ?? new Set(await this.lateAgents());
    this.behind = behind;
    await this.events.copy((line) => {
      const agent = AGENT.exec(line)?.[1];
      if (agent !== undefined) behind.add(agent);
    });
    const copies = [...behind].filter(isJournalOwner).map(async (agent) => {
      // Delete first: a later record adds the agent again through its event.
      behind.delete(agent);
      try {
        if (!this.isStopped) await this.journal(agent).copy();
      } catch (error) {
        behind.add(agent);
        throw error;
      }
    });
    const outcomes = await Promise.allSettled(copies);
    const failed = outcomes.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  /** Returns the agents with records that the files on this machine lack. */
  private async lateAgents(): Promise<readonly string[]> {
    const agents = ((await this.redis.call('HKEYS', this.keys.agents)) as string[]).filter(
      isJournalOwner,
    );
    const isLate = await Promise.all(agents.map((agent) => this.journal(agent).isBehind()));
    return agents.filter((_, index) => isLate[index]);
  }

  private journal(agent: string): MirroredList {
    const existing = this.journals.get(agent);
    if (existing !== undefined) return existing;
    const { redis, keys, folder, descriptors } = this;
    const path = journalPath(folder, agent);
    const journal = new MirroredList(redis, keys, keys.journal(agent), path, descriptors);
    this.journals.set(agent, journal);
    return journal;
  }
}

const isKeptAt = (path: string, digest: string): boolean => {
  try {
    return sha256(readRegularFile(path)) === digest;
  } catch {
    return false;
  }
};

/** The agent's id comes before all text from outside. */
const AGENT = /^\{"v":\d+,"seq":\d+,"ts":[\d.e+]+,"swarm":"[^"]*","agent":"([^"]*)"/;
