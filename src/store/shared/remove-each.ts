/** Removes several sessions and collects the refusals. */
import type { Removal } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';

/** Removes the sessions in sequence. Returns the result or refusal of each, in order. */
export const removeEach = async (
  ids: readonly string[],
  remove: (id: string) => Promise<number>,
): Promise<readonly Removal[]> => {
  const results: Removal[] = [];
  for (const id of ids) results.push(await orRefusal(() => remove(id)));
  return results;
};

/**
 * Resolves with a SkeinError instead of rejecting, so that a refusal does not stop other removals.
 */
export const orRefusal = async <Result>(
  remove: () => Promise<Result>,
): Promise<Result | SkeinError> => {
  try {
    return await remove();
  } catch (error) {
    if (error instanceof SkeinError) return error;
    throw error;
  }
};
