/**
 * Which workspaces a person trusts: SKEIN_HOME/trust.json, by real path, with a digest of the
 * files that were there. When those files change, the trust is gone until it is given again.
 */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import type { ConfigEnvironment } from '../workspace/config-environment.js';
import { type ProjectFile, projectFiles } from '../workspace/project-files.js';
import { realPath } from '../workspace/real-path.js';
import type { Workspace } from '../workspace/workspace-root.js';
import { readTrustBook, writeTrustBook } from './trust-file.js';

export type TrustState = 'trusted' | 'changed' | 'untrusted';

/** `--trust`, or `SKEIN_TRUST=1`. */
export const isTrustGiven = (flag: boolean, env: ConfigEnvironment['env']): boolean =>
  flag || env.SKEIN_TRUST === '1' || env.SKEIN_TRUST === 'true';

/** `files` are those that were read for use, so that what is judged is what applies. */
export const trustState = (
  trustFile: string,
  workspace: Workspace,
  files: readonly ProjectFile[] = projectFiles(workspace),
): TrustState => {
  const digest = readTrustBook(trustFile).workspaces[realPath(workspace.root)];
  if (digest === undefined) return 'untrusted';
  return digest === digestOf(workspace, files) ? 'trusted' : 'changed';
};

export const isTrusted = (trustFile: string, workspace: Workspace): boolean =>
  trustState(trustFile, workspace) === 'trusted';

/** Give the files a person has looked at, when they were read before. */
export const trustWorkspace = (
  trustFile: string,
  workspace: Workspace,
  files: readonly ProjectFile[] = projectFiles(workspace),
): void => {
  const digest = digestOf(workspace, files);
  const book = readTrustBook(trustFile);
  const workspaces = { ...book.workspaces, [realPath(workspace.root)]: digest };
  writeTrustBook(trustFile, { ...book, workspaces });
};

export const untrustWorkspace = (trustFile: string, workspace: Workspace): void => {
  const book = readTrustBook(trustFile);
  const { [realPath(workspace.root)]: _, ...workspaces } = book.workspaces;
  writeTrustBook(trustFile, { ...book, workspaces });
};

/** Of all that a workspace says of itself, wherever it is. */
export const digestOf = ({ root }: Workspace, files: readonly ProjectFile[]): string => {
  const hash = createHash('sha256');
  for (const { path, text } of files) {
    if (text !== undefined) hash.update(`${JSON.stringify([relative(root, path), text])}\n`);
  }
  return hash.digest('hex');
};
