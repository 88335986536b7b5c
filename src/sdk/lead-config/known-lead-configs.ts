/**
 * Newest signed lead config of each swarm that a worker has seen. A process with write access to
 * the store can put an older config back, so a config that is older than the known config is ignored.
 */
import { SkeinError, UsageError } from '../../protocol/skein-error.js';
import { type ConfigVersion, isOlder } from './config-version.js';
import { type LeadConfig, readLeadConfig } from './lead-config.js';

/** Maximum swarms that are remembered. The least recently used are dropped. */
const MAX_SWARMS = 1_000;

interface KnownConfig {
  readonly bytes: Uint8Array;
  readonly config: LeadConfig;
}

/** The config in the store is older than a version that is known to exist. */
export class StaleConfigError extends UsageError {}

export class KnownLeadConfigs {
  private readonly read: (swarm: string) => Promise<Uint8Array>;
  private readonly keys: () => readonly string[];
  private readonly newest = new Map<string, KnownConfig>();
  /** Minimum version that is known to exist, by swarm. */
  private readonly required = new Map<string, ConfigVersion>();
  private readonly followers = new Map<string, Set<(config: LeadConfig) => void>>();

  /** `keys` returns the public keys of the people whose swarms this worker may run. */
  constructor(read: (swarm: string) => Promise<Uint8Array>, keys: () => readonly string[]) {
    this.read = read;
    this.keys = keys;
  }

  /** Reads the config and returns the newest known one. Rejects with SkeinError if it is not valid. */
  async refresh(swarm: string): Promise<LeadConfig> {
    const bytes = await this.read(swarm);
    const newest = this.newest.get(swarm);
    const isUnchanged = newest !== undefined && Buffer.compare(newest.bytes, bytes) === 0;
    const found = isUnchanged
      ? newest
      : { bytes, config: readLeadConfig(bytes, swarm, this.keys()) };
    const isOutdated = newest !== undefined && isOlder(found.config, newest.config);
    const current = isOutdated ? newest : found;
    keepNewest(this.newest, swarm, current);
    if (current !== newest) {
      for (const notify of [...(this.followers.get(swarm) ?? [])]) notify(current.config);
    }
    return current.config;
  }

  /** Remembers the minimum version of the session. Throws StaleConfigError if `config` is older. */
  requireVersion(config: LeadConfig, version: ConfigVersion): void {
    const { session } = config;
    const { createdAt, epoch, edition } = version;
    const current = this.required.get(session);
    const required =
      current !== undefined && isOlder(version, current) ? current : { createdAt, epoch, edition };
    keepNewest(this.required, session, required);
    if (!isOlder(config, required)) return;
    throw new StaleConfigError(
      `The config of session ${session} in the store is older than the config that its lead has published since, so it is ignored.`,
    );
  }

  /**
   * Calls `notify` with the known config, and with each newer config. `onChange` registers a listener for
   * changes in the store. Returns the function that stops it.
   */
  follow(
    swarm: string,
    onChange: (changed: () => void) => () => void,
    notify: (config: LeadConfig) => void,
  ): () => void {
    const followers = this.followers.get(swarm) ?? new Set();
    this.followers.set(swarm, followers.add(notify));
    const current = this.newest.get(swarm);
    if (current !== undefined) notify(current.config);
    const stop = onChange(coalesced(() => this.refreshQuietly(swarm)));
    return () => {
      stop();
      followers.delete(notify);
      if (followers.size === 0) this.followers.delete(swarm);
    };
  }

  /** Ignores an invalid config, because it changes nothing for agents that already run. */
  private async refreshQuietly(swarm: string): Promise<void> {
    try {
      await this.refresh(swarm);
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
    }
  }
}

const keepNewest = <Value>(all: Map<string, Value>, swarm: string, value: Value): void => {
  all.delete(swarm);
  all.set(swarm, value);
  const [oldest] = all.keys();
  if (all.size > MAX_SWARMS && oldest !== undefined) all.delete(oldest);
};

/** Runs `work` one call at a time. Calls during a run are merged into one more run. */
const coalesced = (work: () => Promise<void>): (() => void) => {
  let isRequested = false;
  let isWorking = false;
  const run = async () => {
    isWorking = true;
    while (isRequested) {
      isRequested = false;
      await work();
    }
    isWorking = false;
  };
  return () => {
    isRequested = true;
    if (!isWorking) void run();
  };
};
