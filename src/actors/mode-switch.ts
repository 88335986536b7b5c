/** The permission mode of a run, which a person can change while it runs. */
import { UsageError } from '../protocol/errors.js';
import type { PermissionMode } from '../protocol/permission.js';

export interface ModeSwitch {
  readonly mode: PermissionMode;
  /** Throws a UsageError for a mode that may not be used here. */
  change(mode: PermissionMode): void;
  /** To the mode from before plan mode; returns it. */
  leavePlan(): PermissionMode;
}

/** `refusal` says why a mode may not be used, if so. */
export const modeSwitch = (
  first: PermissionMode,
  refusal: (mode: PermissionMode) => string | undefined = () => undefined,
): ModeSwitch => {
  let mode = first;
  let before: PermissionMode = first === 'plan' ? 'default' : first;
  return {
    get mode() {
      return mode;
    },
    change(wanted) {
      const why = refusal(wanted);
      if (why !== undefined) throw new UsageError(why);
      mode = wanted;
      if (wanted !== 'plan') before = wanted;
    },
    leavePlan() {
      mode = before;
      return mode;
    },
  };
};
