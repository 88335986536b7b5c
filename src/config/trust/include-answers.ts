/**
 * Answers of a person to instruction files that include files outside of the workspace.
 *
 * Each answer holds for one file, by its real path, and one workspace. It is independent of the trust in the
 * settings.
 */
import { realPath } from '../workspace/real-path.js';
import type { WorkspaceFolders } from '../workspace/workspace-folders.js';
import { type IncludeAnswer, readTrustFile, writeTrustFile } from './trust-file.js';

/** Answers by real path of the included file. */
type IncludeAnswers = Readonly<Record<string, IncludeAnswer>>;

export const includeAnswers = (trustFile: string, { root }: WorkspaceFolders): IncludeAnswers => {
  const { includes } = readTrustFile(trustFile);
  const key = realPath(root);
  return Object.hasOwn(includes, key) ? (includes[key] ?? {}) : {};
};

export const answerIncludes = (
  trustFile: string,
  { root }: WorkspaceFolders,
  paths: readonly string[],
  answer: IncludeAnswer,
): void => {
  const trust = readTrustFile(trustFile);
  const key = realPath(root);
  const answers = Object.fromEntries(paths.map((path) => [path, answer]));
  const includes = { ...trust.includes, [key]: { ...trust.includes[key], ...answers } };
  writeTrustFile(trustFile, { ...trust, includes });
};

export const forgetIncludes = (trustFile: string, { root }: WorkspaceFolders): void => {
  const trust = readTrustFile(trustFile);
  const { [realPath(root)]: _, ...includes } = trust.includes;
  writeTrustFile(trustFile, { ...trust, includes });
};
