/** Checkpoints of a session on this machine: where they are kept, and which folders they cover. */
import { type Checkpointer, checkpointer } from '../../actors/checkpoints/checkpointer.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { realPath } from '../../config/workspace/real-path.js';
import { stateLayout } from '../../config/workspace/state-directory.js';
import { isInside } from '../../policy/paths/path-policy.js';
import type { JournalBody } from '../../protocol/session/journal.js';
import { fileBlobs } from '../../store/files/checkpoint-blobs.js';

export interface CheckpointPlace {
  readonly skeinHome: string;
  /** The workspace and the directories that were added to it. */
  readonly roots: readonly string[];
  /** That of a child process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly notify: (sentence: string) => void;
}

/** What a session may work in. */
export const rootsOf = (
  cwd: string,
  { additionalDirectories }: Pick<LoadedSettings, 'additionalDirectories'>,
): readonly [string, ...string[]] => [cwd, ...additionalDirectories.map(({ value }) => value)];

export const blobsOf = (skeinHome: string) => fileBlobs(stateLayout(skeinHome).checkpoints);

export const checkpointsFor = (
  { skeinHome, roots, environment, notify }: CheckpointPlace,
  record: (body: JournalBody) => void,
): Checkpointer =>
  checkpointer({
    environment,
    record,
    tell: notify,
    blobs: blobsOf(skeinHome),
    roots: watchedRoots(roots),
    without: [realPath(skeinHome)],
  });

/**
 * Under their real names, where commands change things. A directory that holds the workspace is too
 * much to look at around every command, and one that lies in another is looked at with it.
 */
export const watchedRoots = (roots: readonly string[]): readonly string[] => {
  const [workspace = '/', ...added] = new Set(roots.map(realPath));
  const apart = added.filter((root) => !isInside(root, workspace) && !isInside(workspace, root));
  const outermost = apart.filter(
    (root) => !apart.some((other) => other !== root && isInside(other, root)),
  );
  return [workspace, ...outermost];
};
