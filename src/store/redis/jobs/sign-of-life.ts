/** A worker says every few seconds that it lives, and what it does. */
import { hostname } from 'node:os';
import { HEARTBEAT_MS, type WorkerRegistry, type WorkerState } from './worker-registry.js';

export class WorkerHeartbeat {
  private readonly register: WorkerRegistry;
  private readonly name: string;
  private readonly state: () => Pick<WorkerState, 'busy' | 'concurrency'>;
  private timer: NodeJS.Timeout | undefined;
  private giving: Promise<void> | undefined;

  constructor(register: WorkerRegistry, name: string, state: WorkerHeartbeat['state']) {
    this.register = register;
    this.name = name;
    this.state = state;
  }

  /** Rejects with a StorageError when Redis refuses the first one. */
  async begin(): Promise<void> {
    await this.give();
    this.timer = setInterval(() => void this.give().catch(() => {}), HEARTBEAT_MS).unref();
  }

  /** One at a time, or many would wait for a Redis that is away. */
  give(): Promise<void> {
    const state = { host: hostname(), pid: process.pid, ...this.state() };
    this.giving ??= this.register.hear(this.name, state).finally(() => {
      this.giving = undefined;
    });
    return this.giving;
  }

  end(): void {
    clearInterval(this.timer);
  }
}
