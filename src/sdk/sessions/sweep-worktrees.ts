/** Removes old worktrees of agents, unless they contain work that exists nowhere else. */
import { rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { resolveSkeinHome, worktreeHome } from '../../config/workspace/state-layout.js';
import { childEnvironment } from '../../host/process/ownership/child-environment.js';
import { leftoverWorktrees, sweepWorktree } from '../../host/worktrees/sweep-worktree.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { cachedJobs } from '../../views/swarm/cached-jobs.js';
import { isLiveSession } from '../../views/swarm/live-sessions.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';

const DAY_MS = 24 * 60 * 60 * 1000;

interface SweptWorktrees {
  /** Folders that were removed, or would be removed in a dry run. */
  readonly removed: readonly string[];
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
}

/** Removes worktrees that did not change for `days` days. Keeps worktrees of live sessions. */
export const sweepWorktrees = async (
  host: Pick<HostEnvironment, 'env' | 'home' | 'cwd'>,
  stores: readonly Pick<SessionStore, 'holder' | 'jobs' | 'list'>[],
  days: number,
  isDryRun: boolean,
): Promise<SweptWorktrees> => {
  const skeinHome = resolveSkeinHome(host);
  const environment = childEnvironment(host.env, '', tmpdir());
  const home = worktreeHome(skeinHome, environment);
  const sources = stores.map((store) => ({
    holder: (id: string) => store.holder(id),
    jobs: cachedJobs(store.jobs),
  }));
  const lists = await Promise.all(stores.map((store) => store.list()));
  const isLive = async (session: string) => {
    for (const [at, source] of sources.entries()) {
      const isListed = lists[at]?.some(({ id }) => id === session) === true;
      if (isListed && (await isLiveSession(source, session))) return true;
    }
    return false;
  };
  const removed: string[] = [];
  const kept: { path: string; reason: string }[] = [];
  for (const { session, path, changedAt } of leftoverWorktrees(home.folder)) {
    if (changedAt >= Date.now() - days * DAY_MS) continue;
    const end = (await isLive(session))
      ? { kept: 'its session is running' }
      : await sweepWorktree(path, home, isDryRun);
    if (end === 'removed') removed.push(path);
    else kept.push({ path, reason: end.kept });
    if (end === 'removed' && !isDryRun) removeIfEmpty(dirname(path));
  }
  return { removed, kept };
};

const removeIfEmpty = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // The folder still contains other worktrees.
  }
};
