/** Where a worker works for a lead: in the very folder of the lead, where it can reach that. */
import { existsSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { UsageError } from '../protocol/errors.js';
import type { RunTerms } from './run-terms.js';

export interface WorkerPlace {
  readonly host: string;
  /** Folders that are the same on all machines. */
  readonly sharedPaths: readonly string[];
}

/** Throws a UsageError that says what is missing: no agent begins without its workspace. */
export const workplaceOf = (
  { session, host, cwd }: Pick<RunTerms, 'session' | 'host' | 'cwd'>,
  here: WorkerPlace,
): string => {
  const isShared = here.sharedPaths.some((path) => isInside(path, cwd));
  if (host !== here.host && !isShared) {
    throw new UsageError(
      `Session ${session} works in ${cwd} on ${host}, which this machine (${here.host}) does not share: name a folder that both have in skein.sharedPaths (SKEIN_SHARED_PATHS).`,
    );
  }
  if (!existsSync(cwd)) {
    throw new UsageError(`Session ${session} works in ${cwd}, which is not there: mount it here.`);
  }
  return cwd;
};

const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || !(way.startsWith('..') || isAbsolute(way));
};
