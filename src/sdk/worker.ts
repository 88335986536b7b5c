/** A worker: takes background agents of any swarm from the queue, and works on them as their leads would. */
import { hash } from 'node:crypto';
import { type Outpost, openOutpost } from '../actors/outpost.js';
import { resolveSkeinHome, stateLayout } from '../config/state-directory.js';
import { canonicalJson } from '../protocol/canonical-json.js';
import { SkeinError, UsageError } from '../protocol/errors.js';
import type { TakenJob, Work, WorkTerms } from '../protocol/job-queue.js';
import { openPersonKey } from '../store/person-key.js';
import { KnownTerms } from './known-terms.js';
import { type OpenedStore, openStore } from './open-store.js';
import { outpostPlace } from './outpost-place.js';
import { noteRefusal } from './refusal-note.js';
import type { RunOptions } from './run-options.js';
import { type RunTerms, TERMS } from './run-terms.js';
import type { Surroundings } from './surroundings.js';
import { furnish } from './workbench.js';
import { settingsFor } from './workbench-settings.js';

export interface WorkerOptions {
  readonly machine: Surroundings;
  readonly flags: Pick<RunOptions, 'store' | 'settings' | 'trust'>;
  readonly concurrency: number;
  readonly rate?: WorkTerms['rate'];
  /** Told what happens, for people. */
  readonly said: (news: WorkerNews) => void;
}

export type WorkerNews = AgentNews | OutageNews;

/** All that it has waits while Redis is away. */
type OutageNews =
  | { readonly what: 'waiting'; readonly why: string }
  | { readonly what: 'going on' };

export type AgentNews = { readonly swarm: string; readonly agent: string } & (
  | { readonly what: 'begun'; readonly attempts: number }
  | { readonly what: 'ended' }
  | { readonly what: 'given back'; readonly why: string }
);

export interface Worker {
  /** What it is called where people see who works on a job. */
  readonly name: string;
  readonly busy: number;
  /** Takes no more, lets calls under way end for a moment, and gives the rest back. */
  close(): Promise<void>;
}

/** After so long another worker, or this one, tries an agent again that could not be begun. */
const TRY_AGAIN_MS = 1_000;
/** A swarm that cannot be worked on here is left to others for so long, and that is said once. */
const REFUSED_MS = 30_000;
/** What a swarm needs is kept for so long after its last agent. */
const IDLE_MS = 60_000;

/** Rejects with a UsageError when there is no queue to take anything from. */
export const openWorker = async (options: WorkerOptions): Promise<Worker> => {
  const store = await openStore(options.machine, options.flags);
  const { sessions, choice } = store;
  if (choice.kind !== 'redis') {
    await sessions.close();
    throw new UsageError(
      'A worker takes agents from a queue in Redis: set SKEIN_REDIS_URL, or give --store.',
    );
  }
  const outposts = new Outposts(options, store);
  const forget = sessions.outages?.listen((why) =>
    options.said(why === undefined ? { what: 'going on' } : { what: 'waiting', why }),
  );
  const work: Work = async (job) => {
    const { swarm, id: agent, attempts } = job;
    if (outposts.refuses(swarm)) return { laterMs: TRY_AGAIN_MS };
    options.said({ swarm, agent, what: 'begun', attempts });
    try {
      const end = await outposts.work(job);
      if (end === 'done') options.said({ swarm, agent, what: 'ended' });
      else
        options.said({ swarm, agent, what: 'given back', why: 'the worker ends or was replaced' });
      return end;
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      options.said({ swarm, agent, what: 'given back', why: error.message });
      await noteRefusal(sessions, job, error, store.owner);
      return { laterMs: TRY_AGAIN_MS };
    }
  };
  const { concurrency, rate } = options;
  const terms = { concurrency, ...(rate !== undefined && { rate }) };
  const workplace = await sessions.jobs.employ(store.owner, terms, work);
  return {
    name: store.owner,
    get busy() {
      return workplace.busy;
    },
    async close() {
      await workplace.close();
      await outposts.close();
      forget?.();
      await sessions.close();
    },
  };
};

interface Opened {
  readonly outpost: Outpost;
  release(): void;
}

/** One for each swarm that has agents here; where its lead goes on under other terms, one for each of those. */
class Outposts {
  private readonly options: WorkerOptions;
  private readonly store: OpenedStore;
  private readonly opened = new Map<string, Promise<Opened>>();
  private readonly idle = new Map<string, NodeJS.Timeout>();
  private readonly busy = new Map<string, number>();
  private readonly refused = new Set<string>();
  private readonly known: KnownTerms;

  constructor(options: WorkerOptions, store: OpenedStore) {
    this.options = options;
    this.store = store;
    const { sessions } = store;
    this.known = new KnownTerms(
      (swarm) => sessions.peekArtifact(swarm, TERMS),
      () => this.keys(),
    );
  }

  /** It could not be opened a moment ago. */
  refuses(swarm: string): boolean {
    return this.refused.has(swarm);
  }

  async work(job: TakenJob): ReturnType<Work> {
    const { swarm } = job;
    const terms = await this.termsOf(swarm);
    const key = `${swarm} ${setupOf(terms)}`;
    clearTimeout(this.idle.get(key));
    this.busy.set(key, (this.busy.get(key) ?? 0) + 1);
    try {
      const { outpost } = await (this.opened.get(key) ?? this.begin(key, swarm, terms));
      return await outpost.work(job);
    } finally {
      const left = (this.busy.get(key) ?? 1) - 1;
      this.busy.set(key, left);
      if (left === 0) this.closeLater(key);
    }
  }

  async close(): Promise<void> {
    for (const timer of this.idle.values()) clearTimeout(timer);
    await Promise.all([...this.opened.keys()].map((key) => this.leave(key)));
  }

  /** A lead that goes on may have been started in another way than before. */
  private async termsOf(swarm: string): Promise<RunTerms> {
    try {
      return await this.known.look(swarm);
    } catch (error) {
      this.refuse(swarm);
      throw error;
    }
  }

  /** Of the people whose swarms are worked on here. Throws a UsageError. */
  private keys(): readonly string[] {
    const { machine, flags } = this.options;
    const { publicKey } = openPersonKey(stateLayout(resolveSkeinHome(machine)).keys);
    return [publicKey, ...settingsFor(machine, flags, machine.cwd).skein.personKeys];
  }

  private begin(key: string, swarm: string, terms: RunTerms): Promise<Opened> {
    const opened = this.open(swarm, terms);
    this.opened.set(key, opened);
    opened.catch(() => {
      this.opened.delete(key);
      this.refuse(swarm);
    });
    return opened;
  }

  /** What is missing may be there later. */
  private refuse(swarm: string): void {
    this.refused.add(swarm);
    setTimeout(() => this.refused.delete(swarm), REFUSED_MS).unref();
  }

  private closeLater(key: string): void {
    this.idle.set(key, setTimeout(() => void this.leave(key), IDLE_MS).unref());
  }

  private async leave(key: string): Promise<void> {
    const opened = this.opened.get(key);
    this.opened.delete(key);
    this.idle.delete(key);
    this.busy.delete(key);
    try {
      const { outpost, release } = (await opened) ?? {};
      try {
        await outpost?.close();
      } finally {
        release?.();
      }
    } catch (error) {
      // It was never open.
      if (!(error instanceof SkeinError)) throw error;
    }
  }

  /** As the lead would be set up here. Rejects with a UsageError. */
  private async open(swarm: string, terms: RunTerms): Promise<Opened> {
    const { machine, flags, concurrency } = this.options;
    const own = settingsFor(machine, flags, machine.cwd);
    const { isTrusted: trust, ...outpost } = await outpostPlace(
      ...([terms, machine, own, this.store.owner] as const),
    );
    const { workplace: cwd, clones } = outpost;
    const request = {
      ...{ machine: { ...machine, cwd }, outpost },
      flags: { ...terms.flags, permissionMode: terms.mode, resume: swarm, cwd, trust },
      ...{ title: '', surfaces: {}, lingers: false, wantsStreamEvents: false },
    };
    const bench = await furnish(request, this.store);
    // What is elsewhere cannot be kept before it changes.
    const { checkpoints, ...options } = bench.options;
    const kept = clones?.isAway !== true && checkpoints !== undefined ? { checkpoints } : {};
    const { limits } = options.swarm;
    // How many work at once is for the worker to say.
    const roomy = {
      ...limits,
      maxConcurrentAgents: Math.max(concurrency, limits.maxConcurrentAgents),
    };
    try {
      const setup = { ...options.swarm, limits: roomy };
      const opened = await openOutpost({ ...options, ...kept, swarm: setup }, swarm);
      const heed = (heard: () => void) => opened.heedArtifacts(heard);
      const forget = this.known.follow(swarm, heed, ({ mode }) => bench.mode.follow(mode));
      const release = () => {
        forget();
        bench.release();
      };
      return { outpost: opened, release };
    } catch (error) {
      bench.release();
      throw error;
    }
  }
}

/** What one outpost is for: the mode of its lead may change, and another process may lead in the same way. */
const setupOf = ({ mode: _mode, epoch: _epoch, edition: _edition, ...setup }: RunTerms): string =>
  hash('sha256', canonicalJson(setup));
