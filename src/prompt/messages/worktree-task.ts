/** Texts that tell an agent which worktree it works in, because shared text names other folders. */
import { escapeLine } from '../escape-tags.js';

/** Returns the task of an agent that has its own worktree. */
export const worktreeTask = (prompt: string, { path, top, cwd }: WorktreePaths): string =>
  `You work in your own git worktree: ${cwd}
It contains all that ${top} had when you started, committed or not. For any path below ${top}, use the same path below ${path}; you cannot write elsewhere. Your changes are merged back when you end: do not commit, merge or copy them yourself.

${prompt}`;

/**
 * Returns the notice for an agent that runs on a machine without its lead's workspace. `formerPath` is
 * a folder that earlier text named as the agent's worktree.
 */
export const movedText = (
  { host, place, url, tip }: ClonedWorktree,
  before?: ClonedWorktree,
  formerPath?: string,
): string => {
  const { path, top, cwd, base, branch } = place;
  const holds =
    tip === base
      ? `It contains commit ${base} of ${escapeLine(url)}; changes that were not committed are missing.`
      : `It contains your work up to commit ${tip}, which was pushed to the branch ${branch}.`;
  const lost =
    before === undefined
      ? ''
      : ` Later changes on ${escapeLine(before.host)} and processes there are lost: check before you continue.`;
  const knownPaths = [top, formerPath, before?.place.path].filter(
    (candidate) => candidate !== undefined && candidate !== path,
  );
  return `[You now work on another machine, ${escapeLine(host)}, in your own git worktree: ${cwd}
${holds}${lost} For any path below ${knownPaths.join(' or ')}, use the same path below ${path}; you cannot write elsewhere. When you end, your changes are committed and pushed to the branch ${branch}: do not push them yourself.]`;
};

interface ClonedWorktree {
  readonly host: string;
  readonly place: WorktreePaths & { readonly base: string; readonly branch: string };
  readonly url: string;
  readonly tip: string;
}

interface WorktreePaths {
  readonly path: string;
  readonly top: string;
  readonly cwd: string;
}
