/**
 * Which files outside of a workspace its instructions may include: a person says so for each, by its
 * real path, and for this workspace alone. Trust in the settings does not cover it, nor the reverse.
 */
import { realPath } from '../workspace/real-path.js';
import type { Workspace } from '../workspace/workspace-root.js';
import { type IncludeAnswer, readTrustBook, writeTrustBook } from './trust-file.js';

export type IncludeAnswers = Readonly<Record<string, IncludeAnswer>>;

export const includeAnswers = (trustFile: string, { root }: Workspace): IncludeAnswers => {
  const { includes } = readTrustBook(trustFile);
  const key = realPath(root);
  return Object.hasOwn(includes, key) ? (includes[key] ?? {}) : {};
};

export const answerIncludes = (
  trustFile: string,
  { root }: Workspace,
  paths: readonly string[],
  answer: IncludeAnswer,
): void => {
  const book = readTrustBook(trustFile);
  const key = realPath(root);
  const said = Object.fromEntries(paths.map((path) => [path, answer]));
  const includes = { ...book.includes, [key]: { ...book.includes[key], ...said } };
  writeTrustBook(trustFile, { ...book, includes });
};

export const forgetIncludes = (trustFile: string, { root }: Workspace): void => {
  const book = readTrustBook(trustFile);
  const { [realPath(root)]: _, ...includes } = book.includes;
  writeTrustBook(trustFile, { ...book, includes });
};
