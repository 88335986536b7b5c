/**
 * Ends of agents elsewhere that the index tells of. A letter tells whoever they work for; where none comes, as
 * when there was no room for it, their journal is looked at all the same.
 */
import type { Clock } from '../../protocol/clock.js';
import { SkeinError } from '../../protocol/errors.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import { type AgentEntry, type AgentRegistry, isLive } from '../tree/agent-registry.js';

/** A letter is mostly there at once; where a thousand end together, it takes a while. */
const PATIENCE_MS = 5_000;

export interface UntoldEndsDeps {
  readonly roster: AgentRegistry;
  readonly clock: Clock;
  /** Tells whoever works for it here, once. Rejects with a SkeinError; then it is tried again. */
  readonly hear: (entry: AgentEntry) => Promise<void>;
}

export class UntoldEnds {
  private readonly deps: UntoldEndsDeps;
  /** By agent: when its end was seen; the oldest first. */
  private readonly seen = new Map<string, number>();

  constructor(deps: UntoldEndsDeps) {
    this.deps = deps;
  }

  /** Of one that works for somebody here. */
  take({ type, agent }: SwarmEvent): void {
    if (type === 'agent.stopped') this.expect(agent);
  }

  /** Waits for nobody: who hears of an end looks at the index first. */
  settle(): void {
    const { roster, clock, hear } = this.deps;
    for (const [id, at] of this.seen) {
      if (clock.now() - at < PATIENCE_MS) break;
      this.seen.delete(id);
      const entry = roster.get(id);
      if (entry === undefined || !isLive(entry)) continue;
      void hear(entry).catch((error: unknown) => {
        if (!(error instanceof SkeinError)) throw error;
        this.expect(id);
      });
    }
  }

  private expect(id: string): void {
    this.seen.delete(id);
    this.seen.set(id, this.deps.clock.now());
  }
}
