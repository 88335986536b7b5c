/** Removes several sessions and collects the refusals. */
import type { Removal } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';

/** Removes the sessions in sequence. Returns the result or refusal of each, in order. */
export const removeEach = async (
  ids: readonly string[],
  remove: (id: string) => Promise<number>,
): Promise<readonly Removal[]> => {
  const ends: Removal[] = [];
  for (const id of ids) ends.push(await orRefusal(() => remove(id)));
  return ends;
};

/**
 * Resolves with a SkeinError instead of rejecting, so that a refusal does not stop other removals.
 */
export const orRefusal = async <Result>(
  act: () => Promise<Result>,
): Promise<Result | SkeinError> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof SkeinError) return error;
    throw error;
  }
};
