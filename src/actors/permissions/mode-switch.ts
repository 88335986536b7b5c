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
  first: PermissionMode,
  check: (mode: PermissionMode) => void = () => {},
): ModeSwitch => {
  let mode = first;
  let before: PermissionMode = first === 'plan' ? 'default' : first;
  const listeners = new Set<() => void>();
  const turnTo = (wanted: PermissionMode) => {
    mode = wanted;
    if (wanted !== 'plan') before = wanted;
    for (const listener of [...listeners]) listener();
  };
  const change = (wanted: PermissionMode) => {
    check(wanted);
    turnTo(wanted);
  };
  return {
    get mode() {
      return mode;
    },
    change,
    follow(wanted) {
      if (wanted === mode) return;
      try {
        change(wanted);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        turnTo(agentMode(wanted, first));
      }
    },
    leavePlan() {
      turnTo(before);
      return mode;
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
