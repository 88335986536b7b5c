/**
 * What a worker knows of how leads were started: of each swarm the newest terms that it has seen, signed by
 * somebody whose key it knows. Whoever can write to the store may put older ones back; they do not count.
 */
import { SkeinError, UsageError } from '../../protocol/errors.js';
import { type LeadConfig, readLeadConfig } from './signed-lead-config.js';
import { type ConfigVersion, isOlder } from './terms-order.js';

/** Those that were looked for longest ago are forgotten. */
const MOST_SWARMS = 1_000;

interface Known {
  readonly bytes: Uint8Array;
  readonly terms: LeadConfig;
}

/** There are newer ones, which are not where they should be, or not yet. */
export class StaleConfigError extends UsageError {}

export class KnownLeadConfigs {
  private readonly read: (swarm: string) => Promise<Uint8Array>;
  private readonly keys: () => readonly string[];
  private readonly newest = new Map<string, Known>();
  /** There are such, or later ones. */
  private readonly needed = new Map<string, ConfigVersion>();
  private readonly followers = new Map<string, Set<(terms: LeadConfig) => void>>();

  /** `keys`: of people whose swarms may be worked on here. */
  constructor(read: (swarm: string) => Promise<Uint8Array>, keys: () => readonly string[]) {
    this.read = read;
    this.keys = keys;
  }

  /** Rejects with a SkeinError when what is there does not count. */
  async look(swarm: string): Promise<LeadConfig> {
    const bytes = await this.read(swarm);
    const seen = this.newest.get(swarm);
    const isSeen = seen !== undefined && Buffer.compare(seen.bytes, bytes) === 0;
    const found = isSeen ? seen : { bytes, terms: readLeadConfig(bytes, swarm, this.keys()) };
    const isOutdated = seen !== undefined && isOlder(found.terms, seen.terms);
    const known = isOutdated ? seen : found;
    keepNewest(this.newest, swarm, known);
    if (known !== seen) {
      for (const tell of [...(this.followers.get(swarm) ?? [])]) tell(known.terms);
    }
    return known.terms;
  }

  /** What was said before that counts no more. Throws OutdatedTerms where these were. */
  demand(terms: LeadConfig, order: ConfigVersion): void {
    const { session } = terms;
    const { createdAt, epoch, edition } = order;
    const known = this.needed.get(session);
    const needed =
      known !== undefined && isOlder(order, known) ? known : { createdAt, epoch, edition };
    keepNewest(this.needed, session, needed);
    if (!isOlder(terms, needed)) return;
    throw new StaleConfigError(
      `Session ${session} has been led in another way since: what lies in the store is older, and does not count.`,
    );
  }

  /**
   * Tells the terms that are known, and newer ones when somebody has looked. `heed` says when to look.
   * Returns what ends it.
   */
  follow(
    swarm: string,
    heed: (heard: () => void) => () => void,
    tell: (terms: LeadConfig) => void,
  ): () => void {
    const followers = this.followers.get(swarm) ?? new Set();
    this.followers.set(swarm, followers.add(tell));
    const known = this.newest.get(swarm);
    if (known !== undefined) tell(known.terms);
    const forget = heed(oneByOne(() => this.glance(swarm)));
    return () => {
      forget();
      followers.delete(tell);
      if (followers.size === 0) this.followers.delete(swarm);
    };
  }

  /** What does not count changes nothing for those who work already. */
  private async glance(swarm: string): Promise<void> {
    try {
      await this.look(swarm);
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
    }
  }
}

const keepNewest = <Value>(all: Map<string, Value>, swarm: string, value: Value): void => {
  all.delete(swarm);
  all.set(swarm, value);
  const [oldest] = all.keys();
  if (all.size > MOST_SWARMS && oldest !== undefined) all.delete(oldest);
};

/** Asked for while it is under way, it is done once more after that. */
const oneByOne = (work: () => Promise<void>): (() => void) => {
  let isWanted = false;
  let isWorking = false;
  const run = async () => {
    isWorking = true;
    while (isWanted) {
      isWanted = false;
      await work();
    }
    isWorking = false;
  };
  return () => {
    isWanted = true;
    if (!isWorking) void run();
  };
};
