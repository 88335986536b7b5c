/** Takes away worktrees that agents left behind long ago, unless they hold work that is nowhere else. */
import { rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { realPath } from '../../config/workspace/real-path.js';
import { resolveSkeinHome, stateLayout } from '../../config/workspace/state-directory.js';
import { childEnvironment } from '../../host/process/ownership/child-environment.js';
import { leftWorktrees, sweepWorktree } from '../../host/worktrees/worktree-sweep.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { cachedJobs } from '../../views/swarm/cached-job-list.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import { isWorkedOn } from '../control/remote-commands.js';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface SweptWorktrees {
  /** Folders that have gone, or would go. */
  readonly removed: readonly string[];
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
}

export const sweepWorktrees = async (
  machine: Pick<HostEnvironment, 'env' | 'home' | 'cwd'>,
  stores: readonly Pick<SessionStore, 'holder' | 'jobs' | 'list'>[],
  days: number,
  dryRun: boolean,
): Promise<SweptWorktrees> => {
  const skeinHome = resolveSkeinHome(machine);
  const { worktrees: folder } = stateLayout(skeinHome);
  const environment = childEnvironment(machine.env, '', tmpdir());
  const home = { folder, without: [realPath(skeinHome)], environment };
  const sources = stores.map((store) => ({
    holder: (id: string) => store.holder(id),
    jobs: cachedJobs(store.jobs),
  }));
  const lists = await Promise.all(stores.map((store) => store.list()));
  const isLive = async (session: string) => {
    for (const [at, source] of sources.entries()) {
      const isKnown = lists[at]?.some(({ id }) => id === session) === true;
      if (isKnown && (await isWorkedOn(source, session))) return true;
    }
    return false;
  };
  const removed: string[] = [];
  const kept: { path: string; reason: string }[] = [];
  for (const { session, path, changedAt } of leftWorktrees(folder)) {
    if (changedAt >= Date.now() - days * DAY_MS) continue;
    const end = (await isLive(session))
      ? { kept: 'its session is running' }
      : await sweepWorktree(path, home, dryRun);
    if (end === 'removed') removed.push(path);
    else kept.push({ path, reason: end.kept });
    if (end === 'removed' && !dryRun) removeIfEmpty(dirname(path));
  }
  return { removed, kept };
};

const removeIfEmpty = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // Others are there still.
  }
};
