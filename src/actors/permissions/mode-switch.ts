/** Permission mode of a run, which a person can change while it runs. */
import { agentMode } from '../../policy/agent-mode.js';
import type { PermissionMode } from '../../protocol/permission/permission-mode.js';
import { UsageError } from '../../protocol/skein-error.js';

export interface ModeSwitch {
  readonly mode: PermissionMode;
  /** Throws UsageError if the mode may not be used here. */
  change(mode: PermissionMode): void;
  /**
   * Changes to the mode of a lead in another process. If the mode may not be used here, changes to
   * the stricter of it and the first mode of this process.
   */
  follow(mode: PermissionMode): void;
  /** Returns to the mode before plan mode, and returns that mode. */
  leavePlan(): PermissionMode;
  /** Calls the listener after each change. Returns a function that removes it. */
  listen(listener: () => void): () => void;
}

/** Creates the switch. `check` throws UsageError for a mode that may not be used here. */
export const modeSwitch = (
  initial: PermissionMode,
  check: (mode: PermissionMode) => void = () => {},
): ModeSwitch => {
  let mode = initial;
  let modeBeforePlan: PermissionMode = initial === 'plan' ? 'default' : initial;
  const listeners = new Set<() => void>();
  const setMode = (next: PermissionMode) => {
    mode = next;
    if (next !== 'plan') modeBeforePlan = next;
    for (const listener of [...listeners]) listener();
  };
  const change = (next: PermissionMode) => {
    check(next);
    setMode(next);
  };
  return {
    get mode() {
      return mode;
    },
    change,
    follow(next) {
      if (next === mode) return;
      try {
        change(next);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        setMode(agentMode(next, initial));
      }
    },
    leavePlan() {
      setMode(modeBeforePlan);
      return mode;
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
