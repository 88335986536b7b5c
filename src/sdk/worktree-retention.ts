/** Takes away worktrees that agents left behind long ago, unless they hold work that is nowhere else. */
import { rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { realPath } from '../config/real-path.js';
import { resolveSkeinHome, stateLayout } from '../config/state-directory.js';
import { childEnvironment } from '../host/child-environment.js';
import { leftWorktrees, sweepWorktree } from '../host/worktree-sweep.js';
import type { SessionStore } from '../protocol/store.js';
import type { Surroundings } from './surroundings.js';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface SweptWorktrees {
  /** Folders that have gone, or would go. */
  readonly removed: readonly string[];
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
}

export const sweepWorktrees = async (
  machine: Pick<Surroundings, 'env' | 'home' | 'cwd'>,
  store: Pick<SessionStore, 'holder' | 'list'>,
  days: number,
  dryRun: boolean,
): Promise<SweptWorktrees> => {
  const skeinHome = resolveSkeinHome(machine);
  const { worktrees: folder } = stateLayout(skeinHome);
  const environment = childEnvironment(machine.env, '', tmpdir());
  const home = { folder, without: [realPath(skeinHome)], environment };
  const known = new Set((await store.list()).map(({ id }) => id));
  const removed: string[] = [];
  const kept: { path: string; reason: string }[] = [];
  for (const { session, path, changedAt } of leftWorktrees(folder)) {
    if (changedAt >= Date.now() - days * DAY_MS) continue;
    const isRunning = known.has(session) && (await store.holder(session)) !== undefined;
    const end = isRunning
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
