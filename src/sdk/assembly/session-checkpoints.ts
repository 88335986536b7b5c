/** Opens the checkpoints of a session: where they are stored, and which folders they cover. */
import { type Checkpointer, checkpointer } from '../../actors/checkpoints/checkpointer.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { realPath } from '../../config/workspace/real-path.js';
import { stateLayout } from '../../config/workspace/state-layout.js';
import { statePaths } from '../../config/workspace/state-paths.js';
import { isPathInside } from '../../lib/paths/is-path-inside.js';
import type { JournalBody } from '../../protocol/session/journal-record.js';
import { checkpointBlobs } from '../../store/files/checkpoints/checkpoint-blobs.js';

interface SessionCheckpointsOptions {
  readonly skeinHome: string;
  /** The workspace, then the directories that were added to it. */
  readonly roots: readonly string[];
  /** Environment of child processes, for git. */
  readonly environment: Readonly<Record<string, string>>;
  readonly notify: (sentence: string) => void;
  /** Path of the program of threads that scan large workspaces. Default: no threads. */
  readonly shardThread?: string | undefined;
}

/** Returns the folders that a session may work in: its directory, then the added directories. */
export const workspaceRoots = (
  cwd: string,
  { additionalDirectories }: Pick<LoadedSettings, 'additionalDirectories'>,
): readonly [string, ...string[]] => [cwd, ...additionalDirectories.map(({ value }) => value)];

/** Opens the checkpoint blobs in the state directory. */
export const openCheckpointBlobs = (skeinHome: string) =>
  checkpointBlobs(stateLayout(skeinHome).checkpoints);

export const sessionCheckpoints = (
  { skeinHome, roots, environment, notify, shardThread }: SessionCheckpointsOptions,
  record: (body: JournalBody) => void,
): Checkpointer =>
  checkpointer({
    environment,
    record,
    notify,
    shardThread,
    blobs: openCheckpointBlobs(skeinHome),
    checkpointFolder: stateLayout(skeinHome).checkpoints,
    roots: watchedRoots(roots),
    excluded: statePaths(skeinHome),
  });

/**
 * Returns the folders to compare around every command, by their real paths. Leaves out folders inside
 * another root, and folders that contain the workspace, because those are too large to scan each time.
 */
export const watchedRoots = (roots: readonly string[]): readonly string[] => {
  const [workspace = '/', ...added] = new Set(roots.map(realPath));
  const apart = added.filter(
    (root) =>
      !isPathInside({ path: workspace, folder: root }) &&
      !isPathInside({ path: root, folder: workspace }),
  );
  const outermost = apart.filter(
    (root) => !apart.some((folder) => folder !== root && isPathInside({ path: root, folder })),
  );
  return [workspace, ...outermost];
};
