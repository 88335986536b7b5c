/** The permission mode of a run, which a person can change while it runs. */
import { modeFor } from '../../policy/agent-mode.js';
import { UsageError } from '../../protocol/errors.js';
import type { PermissionMode } from '../../protocol/permission/permission.js';

export interface ModeSwitch {
  readonly mode: PermissionMode;
  /** Throws a UsageError for a mode that may not be used here. */
  change(mode: PermissionMode): void;
  /** To that of a lead elsewhere; where it may not be used, to the stricter of it and the first one here. */
  follow(mode: PermissionMode): void;
  /** To the mode from before plan mode; returns it. */
  leavePlan(): PermissionMode;
  /** Told of each change, until what it returns is called. */
  listen(listener: () => void): () => void;
}

/** `check` throws for a mode that may not be used here. */
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
        turnTo(modeFor(wanted, first));
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
