/**
 * Trust of a person in the settings of a workspace.
 *
 * SKEIN_HOME/trust.json stores a digest of the settings files by real path. If the files change, the workspace
 * is not trusted until the person trusts it again.
 */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import type { ConfigEnvironment } from '../workspace/config-environment.js';
import { type ProjectFile, projectFiles } from '../workspace/project-files.js';
import { realPath } from '../workspace/real-path.js';
import type { WorkspaceFolders } from '../workspace/workspace-folders.js';
import { readTrustFile, writeTrustFile } from './trust-file.js';

export type TrustState = 'trusted' | 'changed' | 'untrusted';

/** True for `--trust` and `SKEIN_TRUST=1`. */
export const isTrustGiven = (isFlagSet: boolean, env: ConfigEnvironment['env']): boolean =>
  isFlagSet || env.SKEIN_TRUST === '1' || env.SKEIN_TRUST === 'true';

/** `files` must be the files whose settings apply, so that trust covers exactly these texts. */
export const trustState = (
  trustFile: string,
  workspace: WorkspaceFolders,
  files: readonly ProjectFile[] = projectFiles(workspace),
): TrustState => {
  const digest = readTrustFile(trustFile).workspaces[realPath(workspace.root)];
  if (digest === undefined) return 'untrusted';
  return digest === settingsDigest(workspace, files) ? 'trusted' : 'changed';
};

export const isTrusted = (trustFile: string, workspace: WorkspaceFolders): boolean =>
  trustState(trustFile, workspace) === 'trusted';

/** `files` must be the files that the person has reviewed. Default: the files as they are now. */
export const trustWorkspace = (
  trustFile: string,
  workspace: WorkspaceFolders,
  files: readonly ProjectFile[] = projectFiles(workspace),
): void => {
  const digest = settingsDigest(workspace, files);
  const trust = readTrustFile(trustFile);
  const workspaces = { ...trust.workspaces, [realPath(workspace.root)]: digest };
  writeTrustFile(trustFile, { ...trust, workspaces });
};

export const untrustWorkspace = (trustFile: string, workspace: WorkspaceFolders): void => {
  const trust = readTrustFile(trustFile);
  const { [realPath(workspace.root)]: _, ...workspaces } = trust.workspaces;
  writeTrustFile(trustFile, { ...trust, workspaces });
};

/** Returns a digest of all files, independent of the workspace's own path. */
export const settingsDigest = (
  { root }: WorkspaceFolders,
  files: readonly ProjectFile[],
): string => {
  const hash = createHash('sha256');
  for (const { path, text } of files) {
    if (text !== undefined) hash.update(`${JSON.stringify([relative(root, path), text])}\n`);
  }
  return hash.digest('hex');
};
