/** A workspace that fetches the artifacts of other machines on first read. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFileDurably } from '../../lib/replace-file.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { FileError, type Workspace } from '../../protocol/tools/workspace.js';

export interface RemoteArtifacts {
  /** Path of the artifact on this machine. Undefined if the path is no artifact of the session. */
  readonly localPathOf: (path: string) => string | undefined;
  /** Rejects with SkeinError if the artifact does not exist. */
  readonly fetch: (path: string) => Promise<Uint8Array>;
}

export const artifactWorkspace = (disk: Workspace, artifacts: RemoteArtifacts): Workspace => ({
  ...disk,
  resolve(path) {
    const full = disk.resolve(path);
    return artifacts.localPathOf(full) ?? full;
  },
  async read(path, maxBytes) {
    try {
      return await disk.read(path, maxBytes);
    } catch (error) {
      const isMissing = error instanceof FileError && error.why === 'missing';
      if (!isMissing || artifacts.localPathOf(path) === undefined) throw error;
      await fetchToDisk(path, artifacts, error);
      return disk.read(path, maxBytes);
    }
  },
  ...(disk.judgedBy && {
    judgedBy: (judge) => artifactWorkspace(disk.judgedBy?.(judge) ?? disk, artifacts),
  }),
});

const fetchToDisk = async (
  path: string,
  { fetch }: RemoteArtifacts,
  missing: FileError,
): Promise<void> => {
  try {
    const bytes = await fetch(path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await replaceFileDurably(path, bytes);
  } catch (error) {
    // The artifact is still being written or was never stored.
    if (error instanceof SkeinError) throw missing;
    throw error;
  }
};
