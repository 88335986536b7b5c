/** Finds the copy of a session that Redis has lost. */
import { join } from 'node:path';
import { isMirror } from './mark-mirror.js';
import { surveySessions } from './survey-sessions.js';

/**
 * Returns a sentence about the copy of the session with that id or prefix, or without `query` of the newest
 * session of the directory. Returns undefined if there is no copy. Throws UsageError if `root` cannot be listed.
 */
export const missingSession = (
  root: string,
  query: string | undefined,
  cwd: string,
  redis: string,
): string | undefined => {
  const [copy] = surveySessions(root)
    .sessions.filter(({ id }) => isMirror(join(root, id)))
    .filter((meta) => (query === undefined ? meta.cwd === cwd : meta.id.startsWith(query)))
    .sort((a, b) => b.updatedAt - a.updatedAt);
  if (copy === undefined) return undefined;
  const { id } = copy;
  return `Redis at ${redis} no longer has session ${id}, but ${join(root, id)} is a copy. Read it with \`skein replay ${id} --store embedded\`; it cannot be resumed.`;
};
