/** Opens the swarms whose agents a worker runs, and closes them when idle. */

import { hash } from 'node:crypto';
import {
  openWorkerLead,
  openWorkerSwarm,
  type WorkerSwarm,
} from '../../actors/worker/worker-swarm.js';
import { resolveSkeinHome, stateLayout } from '../../config/workspace/state-layout.js';
import { CleanupStack } from '../../lib/async/cleanup-stack.js';
import { canonicalJson } from '../../lib/json/canonical-json.js';
import type { StopReason } from '../../protocol/agent/stop.js';
import type { ClaimedJob } from '../../protocol/session/job-queue.js';
import { SkeinError, UsageError } from '../../protocol/skein-error.js';
import { openPersonKey } from '../../store/files/person-key.js';
import { type AssemblyOptions, assembleSession } from '../assembly/assemble-session.js';
import { commandSettings } from '../assembly/options/command-settings.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import type { OpenedStore } from '../assembly/options/open-store.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import { KnownLeadConfigs, StaleConfigError } from '../lead-config/known-lead-configs.js';
import { LEAD_CONFIG_FILE, type LeadConfig } from '../lead-config/lead-config.js';
import { verifyHandover } from '../lead-config/sign-handover.js';
import { workerWorkspace } from './worker-workspace.js';

export interface WorkerSwarmsOptions {
  readonly host: HostEnvironment;
  readonly flags: Pick<RunOptions, 'store' | 'settings' | 'trust'>;
  readonly concurrency: number;
}

/** Time in ms during which a swarm that could not be opened is refused without another try. */
const REFUSED_MS = 30_000;
/** Time in ms that a swarm stays open after its last agent. */
const IDLE_MS = 60_000;

interface OpenedSwarm {
  readonly swarm: WorkerSwarm;
  close(): Promise<void>;
}

/** Opened swarms, one for each swarm and setup: a lead that is resumed with other flags is opened again. */
export class WorkerSwarms {
  private readonly options: WorkerSwarmsOptions;
  private readonly store: OpenedStore;
  private readonly opened = new Map<string, Promise<OpenedSwarm>>();
  private readonly idle = new Map<string, NodeJS.Timeout>();
  private readonly busy = new Map<string, number>();
  /** Reasons why swarms could not be opened in the last 30 seconds, by swarm. */
  private readonly refused = new Map<string, string>();
  private readonly known: KnownLeadConfigs;
  private trusted: readonly string[] = [];

  constructor(options: WorkerSwarmsOptions, store: OpenedStore) {
    this.options = options;
    this.store = store;
    const { sessions } = store;
    this.known = new KnownLeadConfigs(
      (swarm) => sessions.readArtifact(swarm, LEAD_CONFIG_FILE),
      () => this.keys(),
    );
  }

  /** Returns why the swarm could not be opened in the last 30 seconds, or undefined if it may be tried. */
  refusalOf(swarm: string): string | undefined {
    return this.refused.get(swarm);
  }

  /** Runs the agent of the job. Rejects with SkeinError if its swarm cannot be opened here. */
  async work(job: ClaimedJob): ReturnType<WorkerSwarm['work']> {
    const { swarm } = job;
    const config = await this.leadConfig(swarm);
    this.known.requireVersion(config, await this.handoverVersion(job));
    const key = `${swarm} ${setupDigest(config)}`;
    clearTimeout(this.idle.get(key));
    this.busy.set(key, (this.busy.get(key) ?? 0) + 1);
    try {
      const opened = await (this.opened.get(key) ?? this.start(key, swarm, config));
      return await opened.swarm.work(job);
    } finally {
      const left = (this.busy.get(key) ?? 1) - 1;
      this.busy.set(key, left);
      if (left === 0) this.closeLater(key);
    }
  }

  /** Returns why the last run of the job's agent ended here. Null if only the journal knows it. */
  async stopReason({ swarm, id }: ClaimedJob): Promise<StopReason | null> {
    for (const [key, opening] of this.opened) {
      const reason = key.startsWith(`${swarm} `) ? (await opening).swarm.stopReason(id) : null;
      if (reason !== null) return reason;
    }
    return null;
  }

  async close(): Promise<void> {
    for (const timer of this.idle.values()) clearTimeout(timer);
    await Promise.all([...this.opened.keys()].map((key) => this.closeSwarm(key)));
  }

  /** Reads the config for each job, because a resumed lead may have other flags. */
  private async leadConfig(swarm: string): Promise<LeadConfig> {
    try {
      return await this.known.refresh(swarm);
    } catch (error) {
      this.refuse(swarm, error);
      throw error;
    }
  }

  /** Returns the public keys of the people whose swarms this worker runs. Throws UsageError. */
  private keys(): readonly string[] {
    const { host, flags } = this.options;
    const { publicKey } = openPersonKey(stateLayout(resolveSkeinHome(host)).keys);
    this.trusted = [publicKey, ...commandSettings(host, flags, host.cwd).skein.personKeys];
    return this.trusted;
  }

  private async handoverVersion(job: ClaimedJob): ReturnType<typeof verifyHandover> {
    const parentOf = (agent: string) => this.parentOf(job.swarm, agent);
    try {
      return await verifyHandover(job, this.trusted, parentOf);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      // A key may have been added since. Settings are read again only now, because there may be many jobs.
      return verifyHandover(job, this.keys(), parentOf);
    }
  }

  private async parentOf(swarm: string, agent: string): Promise<string | undefined> {
    for await (const record of this.store.sessions.records(swarm, agent)) {
      if (record.type === 'agent.created') return record.parent ?? undefined;
    }
    return undefined;
  }

  private start(key: string, swarm: string, config: LeadConfig): Promise<OpenedSwarm> {
    const opened = this.open(swarm, config);
    this.opened.set(key, opened);
    opened.catch((error: unknown) => {
      this.opened.delete(key);
      // A newer lead may just have started, so the swarm may be tried again at once.
      if (!(error instanceof StaleConfigError)) this.refuse(swarm, error);
    });
    return opened;
  }

  /** Refuses the swarm for 30 seconds, after which the missing part may be there. */
  private refuse(swarm: string, error: unknown): void {
    this.refused.set(swarm, refusalText(error));
    setTimeout(() => this.refused.delete(swarm), REFUSED_MS).unref();
  }

  private closeLater(key: string): void {
    this.idle.set(key, setTimeout(() => void this.closeSwarm(key), IDLE_MS).unref());
  }

  private async closeSwarm(key: string): Promise<void> {
    const opened = this.opened.get(key);
    this.opened.delete(key);
    this.idle.delete(key);
    this.busy.delete(key);
    try {
      await (await opened)?.close();
    } catch (error) {
      // The swarm could not be opened, so there is no swarm to close.
      if (!(error instanceof SkeinError)) throw error;
    }
  }

  /** Assembles the session as the lead's machine would. Rejects with UsageError. */
  private async open(swarm: string, config: LeadConfig): Promise<OpenedSwarm> {
    const cleanup = new CleanupStack();
    try {
      return { swarm: await this.openWith(cleanup, swarm, config), close: () => cleanup.run() };
    } catch (error) {
      await cleanup.run();
      throw error;
    }
  }

  private async openWith(
    cleanup: CleanupStack,
    swarm: string,
    config: LeadConfig,
  ): Promise<WorkerSwarm> {
    const { host, flags, concurrency } = this.options;
    const own = commandSettings(host, flags, host.cwd);
    const workspace = await workerWorkspace(config, host, own, this.store.owner);
    const { cwd, clones, isTrusted: trust } = workspace;
    const request: AssemblyOptions = {
      host: { ...host, cwd },
      worker: { cwd, clones },
      flags: { ...config.flags, permissionMode: config.mode, resume: swarm, cwd, trust },
      title: '',
      surfaces: {},
      staysIdle: false,
      wantsStreamEvents: false,
    };
    const assembly = await assembleSession(request, this.store);
    cleanup.defer(assembly.release);
    const { limits } = assembly.options.swarm;
    // Concurrency is set on the worker, not by the lead's settings.
    const maxConcurrentAgents = Math.max(concurrency, limits.maxConcurrentAgents);
    const setup = { ...assembly.options.swarm, limits: { ...limits, maxConcurrentAgents } };
    const options = { ...assembly.options, swarm: setup };
    const lead = await openWorkerLead(options, swarm);
    cleanup.defer(() => lead.session.close());
    const opened = await openWorkerSwarm(options, lead, await assembly.services(lead));
    cleanup.defer(() => opened.close());
    // Each lead publishes its config before it writes records, so its epoch is a minimum version.
    this.known.requireVersion(config, { ...config, epoch: opened.leadEpoch, edition: 0 });
    const onChange = (changed: () => void) => opened.onArtifactsChange(changed);
    cleanup.defer(this.known.follow(swarm, onChange, ({ mode }) => assembly.mode.follow(mode)));
    return opened;
  }
}

/** Returns the sentence of a SkeinError. A defect is shown with its class name. */
export const refusalText = (error: unknown): string =>
  error instanceof SkeinError ? error.message : String(error);

/** Returns a digest without mode and version, because those change while a swarm stays open. */
const setupDigest = ({
  mode: _mode,
  epoch: _epoch,
  edition: _edition,
  ...setup
}: LeadConfig): string => hash('sha256', canonicalJson(setup));
