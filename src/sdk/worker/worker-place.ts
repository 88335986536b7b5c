/** Where a worker works for a lead: in the very folder of the lead, where it can reach that, or in a clone. */
import { existsSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import type { LeadConfig } from '../lead-config/signed-lead-config.js';

export interface WorkerPlace {
  readonly host: string;
  /** Folders that are the same on all machines. */
  readonly sharedPaths: readonly string[];
}

/**
 * Undefined when it is not on this machine, and has to be cloned. Throws a UsageError that says what is
 * missing: no agent begins without its workspace.
 */
export const sharedWorkspace = (
  { session, host, cwd, workspace }: Pick<LeadConfig, 'session' | 'host' | 'cwd' | 'workspace'>,
  here: WorkerPlace,
): string | undefined => {
  const isShared = here.sharedPaths.some((path) => isInside(path, cwd));
  if (host !== here.host && !isShared) {
    if (workspace !== undefined) return undefined;
    throw new UsageError(
      `Session ${session} works in ${cwd} on ${host}, which this machine (${here.host}) does not share: name a folder that both have in skein.sharedPaths (SKEIN_SHARED_PATHS) here, or a git remote in skein.workspaceRemote there.`,
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
