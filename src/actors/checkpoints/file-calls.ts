/** Calls that name the files that they write, beside commands that may change any file. */
import type { FileChange, FileState } from '../../protocol/session/checkpoints.js';
import type { FoundChange } from './compare-with-manifest.js';
import { isSameState } from './is-same-state.js';

type States = ReadonlyMap<string, FileState>;

export interface FileCall {
  readonly startedAt: number;
  readonly before: States;
  /** Returns the present states of the files. Throws StorageError. */
  readonly states: () => States;
  /** Undefined while the call runs. */
  ended: { readonly at: number; readonly states: States } | undefined;
}

export class FileCalls {
  /** Calls in the order of their starts. */
  private calls: FileCall[] = [];
  private readonly now: () => number;

  /** `now` returns milliseconds of a clock that never goes back. */
  constructor(now: () => number) {
    this.now = now;
  }

  /** Throws StorageError. */
  begin(states: FileCall['states']): FileCall {
    const call = { startedAt: this.now(), before: states(), states, ended: undefined };
    this.calls.push(call);
    return call;
  }

  /** Throws StorageError. */
  end(call: FileCall): readonly FileChange[] {
    try {
      const states = call.states();
      call.ended = { at: this.now(), states };
      return [...call.before].flatMap(([path, before]) => {
        const after = states.get(path) ?? before;
        return isSameState(before, after) ? [] : [{ path, before, after }];
      });
    } finally {
      if (call.ended === undefined) this.calls.splice(this.calls.indexOf(call), 1);
    }
  }

  forgetEnded(): void {
    this.calls = this.calls.filter(({ ended }) => ended === undefined);
  }

  /**
   * Returns the part of a change that a command made, whose scan came some time after its end. Returns
   * nothing for a change that is recorded by the calls that name the file.
   */
  withoutCalls(change: FoundChange, startedAt: number, endedAt: number): readonly FoundChange[] {
    const calls = this.calls.filter(
      ({ before, ended }) => before.has(change.path) && (ended?.at ?? endedAt) > startedAt,
    );
    const later = calls.find((call) => call.startedAt >= endedAt);
    const after = later?.before.get(change.path) ?? change.after;
    const before = change.before.state;
    const meanwhile = calls.filter((call) => call.startedAt < endedAt);
    const first = meanwhile[0]?.before.get(change.path);
    const last = meanwhile.at(-1)?.ended?.states.get(change.path);
    const isTheirs =
      first !== undefined &&
      last !== undefined &&
      isSameState(first, before) &&
      isSameState(last, after);
    return isTheirs || isSameState(before, after) ? [] : [{ ...change, after }];
  }
}
