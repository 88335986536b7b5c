/** Swarm data source that a test controls. */

import type { SwarmDataSource, SwarmSteering } from '../../../src/ui/swarm/swarm-data-source.js';
import type { SwarmView } from '../../../src/views/swarm/swarm-view.js';
import type {
  OpenTranscript,
  TranscriptItem,
} from '../../../src/views/transcript/transcript-item.js';
import { BEGAN } from '../agents/agent-views.js';

export class ShownSwarms implements SwarmDataSource {
  time = BEGAN + 42_000;
  why: string | null = null;
  /** By agent id. */
  readonly items = new Map<string, readonly TranscriptItem[]>();
  /** Agents with an open transcript. */
  readonly open: string[] = [];
  readonly steering?: SwarmSteering;
  private readonly listeners = new Set<() => void>();
  private views: readonly SwarmView[];

  constructor(views: readonly SwarmView[], steering?: SwarmSteering) {
    this.views = views;
    if (steering !== undefined) this.steering = steering;
  }

  get watchers(): number {
    return this.listeners.size;
  }

  now(): number {
    return this.time;
  }

  swarms(): readonly SwarmView[] {
    return this.views;
  }

  problem(): string | null {
    return this.why;
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  show(...views: readonly SwarmView[]): void {
    this.views = views;
    for (const listener of this.listeners) listener();
  }

  openTranscript(_: string, agent: string): OpenTranscript {
    this.open.push(agent);
    const { items, open } = this;
    return {
      get items() {
        return items.get(agent) ?? [];
      },
      left: 0,
      watch: () => () => {},
      close: () => void open.splice(open.indexOf(agent), 1),
    };
  }
}
