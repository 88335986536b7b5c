/** Locates the file of a tool call, and explains file errors to the model. */
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { type ToolContext, ToolFailure } from '../../protocol/tools/tool.js';
import { FileError } from '../../protocol/tools/workspace.js';

/** Returns the schema of a path in a tool's input. `description` describes the path. */
export const pathField = (description: string) =>
  z.string().min(1).describe(`${description}, absolute or from the working directory.`);

/**
 * Resolves a path against the agent's working directory. Throws ToolFailure if no file can have it.
 */
export const locateFile = (
  path: string,
  { cwd, workspace }: Pick<ToolContext, 'cwd' | 'workspace'>,
): string => {
  refuseImpossible(path);
  const startsAtHome = path === '~' || path.startsWith('~/');
  return workspace.resolve(isAbsolute(path) || startsAtHome ? path : join(cwd, path));
};

/** Limit of Linux, the largest of all systems. */
const MAX_PATH_LENGTH = 4_096;

const refuseImpossible = (path: string) => {
  if (path.includes('\0')) throw new ToolFailure('The path contains a NUL character. Remove it.');
  if (!path.isWellFormed()) {
    throw new ToolFailure('The path holds half of a surrogate pair. Send whole characters.');
  }
  if (path.length > MAX_PATH_LENGTH) {
    throw new ToolFailure(
      `The path has ${path.length} characters; at most ${MAX_PATH_LENGTH} can be used. Check it.`,
    );
  }
};

/** Awaits a file operation. Rejects with ToolFailure in place of FileError. */
export const explainFileError = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof FileError) throw new ToolFailure(explain(error), { cause: error });
    throw error;
  }
};

export const changedSinceRead = (path: string) =>
  `${path} changed since you read it. Read it again, then repeat the change on what is there now.`;

const explain = (error: FileError): string => {
  const { path } = error;
  switch (error.why) {
    case 'missing':
      return `There is no file at ${path}. Check the path: LS shows a directory, Glob finds files by name.`;
    case 'directory':
      return `${path} is a directory, not a file. List it with LS, or search it with Grep.`;
    case 'not-a-directory':
      return `${path} is a file, not a directory. Read shows it; give its directory.`;
    case 'not-a-file':
      return `${path} is a device, pipe or socket. Only regular files can be used.`;
    case 'denied':
      return `The system denies access to ${path}. Use another file, or tell the user.`;
    case 'read-only':
      return `${path} is on a read-only file system, so nothing was changed. Use another directory, or tell the user.`;
    case 'full':
      return `The disk is full, so ${path} is unchanged. Free some space or tell the user.`;
    case 'changed':
      return changedSinceRead(path);
    case 'too-large':
      return `${path} is too large to load as a whole. Find the part you need with Grep, or take it with Bash: head, or sed -n '100,200p'.`;
    case 'moved':
      return `${path} leads to another file than when permission was checked: a link on the way has changed. It was not used; repeat the call to check permission again.`;
    case 'io':
      return `${path} could not be used: ${reasonOf(error.cause)}.`;
  }
};

const reasonOf = (cause: unknown) =>
  cause instanceof Error ? cause.message : 'input/output error';
