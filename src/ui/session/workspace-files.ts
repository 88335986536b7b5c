/** The files that a prompt can name: looked for when somebody begins to name one, and again after a while. */
import { relative, sep } from 'node:path';
import { hostSearch } from '../../host/search/host-search.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';

const MOST_FILES = 20_000;
const FRESH_MS = 10_000;
const PATIENCE_MS = 5_000;

/** The newest first; undefined while they are looked for the first time. `found` is called when there are others. */
export const workspaceFiles = (
  { env }: Pick<TerminalHost, 'env'>,
  cwd: () => string,
  found: () => void,
): (() => readonly string[] | undefined) => {
  const search = hostSearch({ PATH: env.PATH ?? '' }, env);
  let known: { readonly root: string; readonly files: readonly string[] } | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = async (root: string) => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const query = { root, signal, pattern: '**/*', newest: MOST_FILES, timeoutMs: PATIENCE_MS };
    const { files } = await search.find(query);
    known = { root, files: files.map((file) => relative(root, file).split(sep).join('/')) };
    found();
  };
  return () => {
    const root = cwd();
    const isFresh = known?.root === root || known === undefined;
    if (!isFresh || performance.now() - lookedAt > FRESH_MS) {
      lookedAt = performance.now();
      // A folder that cannot be read has nothing to offer.
      look(root).catch(() => undefined);
    }
    return known?.root === root ? known.files : undefined;
  };
};
