/** Checkpoints around the calls of an agent: when files are kept, and when their changes are recorded. */
import type { CallWatch, Checkpoints } from '../../protocol/session/checkpoints.js';
import type { JournalBody } from '../../protocol/session/journal-record.js';
import type { DeferredChanges } from '../checkpoints/deferred-changes.js';
import type { ValidCall } from '../permissions/judge-call.js';
import { type ToolEnvironment, writablePathsOf } from './run-tool.js';

export interface CallCheckpointsDeps extends Pick<ToolEnvironment, 'workspace' | 'journal'> {
  /** Undefined if no checkpoints are kept. */
  readonly checkpoints?: Checkpoints | undefined;
  readonly deferredChanges: DeferredChanges;
}

export class CallCheckpoints {
  private readonly deps: CallCheckpointsDeps;
  private readonly write: (body: JournalBody) => boolean;

  /** `write` writes a record, and returns false if the store refused it. */
  constructor(deps: CallCheckpointsDeps, write: (body: JournalBody) => boolean) {
    this.deps = deps;
    this.write = write;
  }

  /** Looks at the files while the message ends, and while a person decides about the call. */
  prepare(call: ValidCall | undefined): void {
    if (call === undefined || call.readOnly) return;
    const watched = writablePathsOf(call, this.deps);
    if (watched !== undefined && watched.paths === undefined) this.deps.checkpoints?.prepare();
  }

  /**
   * Keeps the files that a call may change, and records the changes of earlier calls. Returns undefined if the
   * call may start at once. Rejects with StorageError.
   */
  before(id: string, call: ValidCall): Promise<CallWatch | undefined> | undefined {
    const { checkpoints, deferredChanges } = this.deps;
    const watched = checkpoints && writablePathsOf(call, this.deps);
    const earlier = call.readOnly ? undefined : deferredChanges.recorded();
    if (watched === undefined) return earlier?.then(() => undefined);
    const keep = async () => checkpoints?.watch({ call: id, ...watched });
    return earlier === undefined ? keep() : earlier.then(keep);
  }

  /** Forgets a call that does not start. Returns false if the store refused the record. */
  cancel(id: string, watch: CallWatch | undefined): boolean {
    watch?.cancel();
    if (watch?.isDeferred !== true) return true;
    return this.write({ type: 'files.changed', call: id, changes: [] });
  }

  /**
   * Records the changes of a call that has ended, or has them recorded later. `isDone` tells if the call was
   * discarded meanwhile. Resolves with false if the store refused the record.
   */
  async after(id: string, watch: CallWatch | undefined, isDone: () => boolean): Promise<boolean> {
    if (watch?.isDeferred === true) {
      this.deps.deferredChanges.add(id, watch);
      return true;
    }
    const changes = (await watch?.changes()) ?? [];
    if (changes.length === 0 || isDone()) return true;
    return this.write({ type: 'files.changed', call: id, changes });
  }
}
