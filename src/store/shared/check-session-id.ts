/** Rules for session ids. */
import { UsageError } from '../../protocol/skein-error.js';

/** True if the id can be a file name. People can choose their own ids. */
export const isSessionId = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id);

/** Returns the id. Throws UsageError if it cannot be a session id. */
export const checkSessionId = (id: string): string => {
  if (!isSessionId(id)) {
    throw new UsageError(
      `"${id.slice(0, 80)}" cannot be a session id: use up to 64 letters, digits, - and _.`,
    );
  }
  return id;
};
