/** What a worker has opened of swarms, to work on their agents as their leads would. */
import { hash } from 'node:crypto';
import { openWorkerSwarm, type WorkerSwarm } from '../../actors/worker/worker-swarm.js';
import { resolveSkeinHome, stateLayout } from '../../config/workspace/state-directory.js';
import { canonicalJson } from '../../lib/canonical-json.js';
import { SkeinError, UsageError } from '../../protocol/errors.js';
import type { TakenJob } from '../../protocol/session/job-queue.js';
import { openPersonKey } from '../../store/shared/person-key.js';
import { assembleSession } from '../assembly/assemble-session.js';
import { settingsFor } from '../assembly/options/command-settings.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import type { OpenedStore } from '../assembly/options/open-store.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import { KnownLeadConfigs, StaleConfigError } from '../lead-config/known-lead-configs.js';
import { verifyHandover } from '../lead-config/signed-handover.js';
import { type LeadConfig, TERMS } from '../lead-config/signed-lead-config.js';
import { workerWorkspace } from './worker-workspace.js';

export interface WorkerSwarmsOptions {
  readonly machine: HostEnvironment;
  readonly flags: Pick<RunOptions, 'store' | 'settings' | 'trust'>;
  readonly concurrency: number;
}

/** A swarm that cannot be worked on here is left to others for so long. */
const REFUSED_MS = 30_000;
/** What a swarm needs is kept for so long after its last agent. */
const IDLE_MS = 60_000;

interface Opened {
  readonly outpost: WorkerSwarm;
  release(): void;
}

/** One for each swarm that has agents here; where its lead goes on under other terms, one for each of those. */
export class WorkerSwarms {
  private readonly options: WorkerSwarmsOptions;
  private readonly store: OpenedStore;
  private readonly opened = new Map<string, Promise<Opened>>();
  private readonly idle = new Map<string, NodeJS.Timeout>();
  private readonly busy = new Map<string, number>();
  /** By swarm: why it could not be opened a moment ago. */
  private readonly refused = new Map<string, string>();
  private readonly known: KnownLeadConfigs;
  private trusted: readonly string[] = [];

  constructor(options: WorkerSwarmsOptions, store: OpenedStore) {
    this.options = options;
    this.store = store;
    const { sessions } = store;
    this.known = new KnownLeadConfigs(
      (swarm) => sessions.peekArtifact(swarm, TERMS),
      () => this.keys(),
    );
  }

  /** Why it could not be opened a moment ago; undefined when it may be tried. */
  refusalOf(swarm: string): string | undefined {
    return this.refused.get(swarm);
  }

  async work(job: TakenJob): ReturnType<WorkerSwarm['work']> {
    const { swarm } = job;
    const terms = await this.termsOf(swarm);
    this.known.demand(terms, await this.handedUnder(job));
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
  private async termsOf(swarm: string): Promise<LeadConfig> {
    try {
      return await this.known.look(swarm);
    } catch (error) {
      this.refuse(swarm, error);
      throw error;
    }
  }

  /** Of the people whose swarms are worked on here. Throws a UsageError. */
  private keys(): readonly string[] {
    const { machine, flags } = this.options;
    const { publicKey } = openPersonKey(stateLayout(resolveSkeinHome(machine)).keys);
    this.trusted = [publicKey, ...settingsFor(machine, flags, machine.cwd).skein.personKeys];
    return this.trusted;
  }

  private async handedUnder(job: TakenJob): ReturnType<typeof verifyHandover> {
    const parentOf = (agent: string) => this.parentOf(job.swarm, agent);
    try {
      return await verifyHandover(job, this.trusted, parentOf);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      // Somebody may be known by now: settings are read anew only then, as there may be many jobs.
      return verifyHandover(job, this.keys(), parentOf);
    }
  }

  private async parentOf(swarm: string, agent: string): Promise<string | undefined> {
    for await (const record of this.store.sessions.records(swarm, agent)) {
      if (record.type === 'agent.created') return record.parent ?? undefined;
    }
    return undefined;
  }

  private begin(key: string, swarm: string, terms: LeadConfig): Promise<Opened> {
    const opened = this.open(swarm, terms);
    this.opened.set(key, opened);
    opened.catch((error: unknown) => {
      this.opened.delete(key);
      // A newer lead may just have begun.
      if (!(error instanceof StaleConfigError)) this.refuse(swarm, error);
    });
    return opened;
  }

  /** What is missing may be there later. */
  private refuse(swarm: string, error: unknown): void {
    this.refused.set(swarm, refusalText(error));
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
  private async open(swarm: string, terms: LeadConfig): Promise<Opened> {
    const { machine, flags, concurrency } = this.options;
    const own = settingsFor(machine, flags, machine.cwd);
    const { isTrusted: trust, ...outpost } = await workerWorkspace(
      terms,
      machine,
      own,
      this.store.owner,
    );
    const { workplace: cwd, clones } = outpost;
    const request = {
      machine: { ...machine, cwd },
      outpost,
      flags: { ...terms.flags, permissionMode: terms.mode, resume: swarm, cwd, trust },
      title: '',
      surfaces: {},
      lingers: false,
      wantsStreamEvents: false,
    };
    const bench = await assembleSession(request, this.store);
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
      const opened = await openWorkerSwarm({ ...options, ...kept, swarm: setup }, swarm);
      await this.heedLead(opened, terms);
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

  /** Each lead says how it was started before it writes anything. Rejects with OutdatedTerms. */
  private async heedLead(opened: WorkerSwarm, terms: LeadConfig): Promise<void> {
    try {
      this.known.demand(terms, { ...terms, epoch: opened.leadEpoch, edition: 0 });
    } catch (error) {
      await opened.close();
      throw error;
    }
  }
}

/** A defect of ours is said with what kind it is. */
export const refusalText = (error: unknown): string =>
  error instanceof SkeinError ? error.message : String(error);

/** What one outpost is for: the mode of its lead may change, and another process may lead in the same way. */
const setupOf = ({ mode: _mode, epoch: _epoch, edition: _edition, ...setup }: LeadConfig): string =>
  hash('sha256', canonicalJson(setup));
