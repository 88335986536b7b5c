/**
 * Changes of commands whose scans run while the next answer is awaited. They are recorded in the order of the
 * commands, before the next effect, the next answer and the end of the run, so each journal has a fixed order.
 */
import type { CallWatch, FileChange } from '../../protocol/session/checkpoints.js';
import type { JournaledState } from '../agent/journaled-state.js';

interface DeferredCall {
  readonly call: string;
  readonly changes: Promise<readonly FileChange[]>;
}

export class DeferredChanges {
  private readonly journal: Pick<JournaledState, 'record'>;
  private waiting: DeferredCall[] = [];
  private recording: Promise<void> | undefined;

  constructor(journal: Pick<JournaledState, 'record'>) {
    this.journal = journal;
  }

  /** Starts to determine the changes of a call that has just ended. */
  add(call: string, watch: CallWatch): void {
    const changes = watch.changes();
    // `recorded` reports a failure.
    changes.catch(() => undefined);
    this.waiting.push({ call, changes });
  }

  /** Resolves when all changes so far are recorded; undefined if there is none. Rejects with StorageError. */
  recorded(): Promise<void> | undefined {
    if (this.waiting.length === 0) return this.recording;
    const recording = this.recordWaiting(this.recording).finally(() => {
      if (this.recording === recording) this.recording = undefined;
    });
    this.recording = recording;
    return recording;
  }

  private async recordWaiting(earlier: Promise<void> | undefined): Promise<void> {
    const calls = this.waiting;
    this.waiting = [];
    await earlier;
    for (const { call, changes } of calls) {
      this.journal.record({ type: 'files.changed', call, changes: await changes });
    }
  }
}
