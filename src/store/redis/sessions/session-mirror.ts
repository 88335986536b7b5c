/**
 * A copy of a session in Redis as files, laid out as the embedded store has them, made by its lead: for
 * people and their tools, and for the day on which Redis has lost something.
 */
import { join } from 'node:path';
import { readRegular } from '../../files/io/regular-file.js';
import { writeAtomically } from '../../files/io/write-atomically.js';
import { DescriptorPool } from '../../files/journal/descriptor-pool.js';
import { isJournalOwner, journalPath } from '../../files/journal/journal-place.js';
import { markMirror } from '../../files/mirror-marker.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { type SwarmKeys, swarmKeys } from '../connection/redis-keys.js';
import { EVENTS_HINT } from '../journal/append-records.js';
import { readBlob, sha256 } from '../journal/chunked-blobs.js';
import { MirroredList } from './mirrored-list.js';
import { ARTIFACTS_HINT, artifactsIn, isArtifactName } from './swarm-artifacts.js';
import { META_HINT } from './swarm-meta.js';

/** What is new is copied so much later, together with what comes meanwhile. */
const PAUSE_MS = 250;
/** Copying takes no more than about a fifth of the time, but for what would be too late. */
const PAUSES_PER_COPY = 4;
const LONGEST_PAUSE_MS = 5_000;

export interface Mirror {
  /** Nothing more is copied. */
  stop(): void;
  /** Resolves when all of it is copied; rejects when it cannot be. */
  complete(): Promise<void>;
}

export const startMirror = (broker: RedisConnections, swarm: string, folder: string): Mirror => {
  markMirror(folder, swarm, broker.shown);
  return new SessionMirror(broker, swarmKeys(swarm), folder);
};

class SessionMirror implements Mirror {
  private readonly broker: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly folder: string;
  private readonly open = new DescriptorPool();
  private readonly events: MirroredList;
  private readonly journals = new Map<string, MirroredList>();
  private readonly artifacts = new Map<string, string>();
  private meta = '';
  private pause = PAUSE_MS;
  /** Agents with records that are not copied yet; undefined when it is not known which. */
  private behind: Set<string> | undefined;
  private readonly hints = new Set<string>();
  private readonly unsubscribe: () => void;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  constructor(broker: RedisConnections, keys: SwarmKeys, folder: string) {
    this.broker = broker;
    this.keys = keys;
    this.folder = folder;
    this.events = new MirroredList(
      broker,
      keys,
      keys.events,
      join(folder, 'events.jsonl'),
      this.open,
    );
    this.unsubscribe = broker.subscribe(
      keys.hints,
      (hint) => this.heard(hint),
      () => this.heard(META_HINT, ARTIFACTS_HINT, EVENTS_HINT),
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

  private heard(...hints: readonly string[]): void {
    for (const hint of hints) this.hints.add(hint);
    if (this.isStopped || this.running !== undefined) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const began = Date.now();
      // What could not be copied is copied next time, or is said at the end.
      this.running = this.copy()
        .catch(() => {})
        .then(() => {
          this.running = undefined;
          const pause = PAUSES_PER_COPY * (Date.now() - began);
          this.pause = Math.min(Math.max(PAUSE_MS, pause), LONGEST_PAUSE_MS);
          if (this.hints.size > 0) this.heard();
        });
    }, this.pause).unref();
  }

  private async copy(): Promise<void> {
    const hints = new Set(this.hints);
    this.hints.clear();
    if (hints.has(META_HINT)) await this.copyMeta();
    if (hints.has(ARTIFACTS_HINT)) await this.copyArtifacts();
    if (hints.has(EVENTS_HINT)) await this.copyRecords();
  }

  private async copyMeta(): Promise<void> {
    const text = await this.broker.call('GET', this.keys.meta);
    if (typeof text !== 'string' || text === this.meta || this.isStopped) return;
    writeAtomically(join(this.folder, 'session.json'), text);
    this.meta = text;
  }

  private async copyArtifacts(): Promise<void> {
    for (const [name, digest] of await artifactsIn(this.broker, this.keys)) {
      if (this.artifacts.get(name) === digest || !isArtifactName(name)) continue;
      const path = join(this.folder, 'artifacts', name);
      // Those who work on this machine have put it there themselves.
      if (!isKeptAt(path, digest)) {
        const bytes = await readBlob(this.broker, this.keys, digest);
        if (this.isStopped) return;
        writeAtomically(path, bytes);
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
      // Whatever is written from now on is told by another event.
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

  /** Of which the files on this machine do not have everything. */
  private async lateAgents(): Promise<readonly string[]> {
    const agents = ((await this.broker.call('HKEYS', this.keys.agents)) as string[]).filter(
      isJournalOwner,
    );
    const late = await Promise.all(agents.map((agent) => this.journal(agent).isBehind()));
    return agents.filter((_, index) => late[index]);
  }

  private journal(agent: string): MirroredList {
    const known = this.journals.get(agent);
    if (known !== undefined) return known;
    const { broker, keys, folder, open } = this;
    const path = journalPath(folder, agent);
    const journal = new MirroredList(broker, keys, keys.journal(agent), path, open);
    this.journals.set(agent, journal);
    return journal;
  }
}

const isKeptAt = (path: string, digest: string): boolean => {
  try {
    return sha256(readRegular(path)) === digest;
  } catch {
    return false;
  }
};

/** Agents stand ahead of all words that come from elsewhere. */
const AGENT = /^\{"v":\d+,"seq":\d+,"ts":[\d.e+]+,"swarm":"[^"]*","agent":"([^"]*)"/;
