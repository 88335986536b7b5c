/** Workspace files that a prompt can name. Searched on demand, and again when the result is old. */
import { relative, sep } from 'node:path';
import { hostSearch } from '../../host/search/host-search.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';

const MAX_FILES = 20_000;
const FRESH_MS = 10_000;
const SEARCH_TIMEOUT_MS = 5_000;

/**
 * Returns a function that returns the files, newest first, or undefined during the first search. `onFound` is called
 * after each search.
 */
export const workspaceFiles = (
  { env }: Pick<TerminalHost, 'env'>,
  cwd: () => string,
  onFound: () => void,
): (() => readonly string[] | undefined) => {
  const search = hostSearch({ PATH: env.PATH ?? '' }, env);
  let found: { readonly root: string; readonly files: readonly string[] } | undefined;
  let searchedAt = Number.NEGATIVE_INFINITY;
  const searchIn = async (root: string) => {
    const signal = AbortSignal.timeout(SEARCH_TIMEOUT_MS);
    const query = {
      root,
      signal,
      pattern: '**/*',
      newest: MAX_FILES,
      timeoutMs: SEARCH_TIMEOUT_MS,
    };
    const { files } = await search.find(query);
    found = { root, files: files.map((file) => relative(root, file).split(sep).join('/')) };
    onFound();
  };
  return () => {
    const root = cwd();
    const isFresh = found?.root === root || found === undefined;
    if (!isFresh || performance.now() - searchedAt > FRESH_MS) {
      searchedAt = performance.now();
      // An unreadable folder has no suggestions.
      searchIn(root).catch(() => undefined);
    }
    return found?.root === root ? found.files : undefined;
  };
};
