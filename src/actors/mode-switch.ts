/** The permission mode of a run, which a person can change while it runs. */
import type { PermissionMode } from '../protocol/permission.js';

export interface ModeSwitch {
  readonly mode: PermissionMode;
  /** Throws a UsageError for a mode that may not be used here. */
  change(mode: PermissionMode): void;
  /** To the mode from before plan mode; returns it. */
  leavePlan(): PermissionMode;
}

/** `check` throws for a mode that may not be used here. */
export const modeSwitch = (
  first: PermissionMode,
  check: (mode: PermissionMode) => void = () => {},
): ModeSwitch => {
  let mode = first;
  let before: PermissionMode = first === 'plan' ? 'default' : first;
  return {
    get mode() {
      return mode;
    },
    change(wanted) {
      check(wanted);
      mode = wanted;
      if (wanted !== 'plan') before = wanted;
    },
    leavePlan() {
      mode = before;
      return mode;
    },
  };
};
