/** What all file tools share: finding the path, and wording a disk's refusal for the model. */
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { FileError, type ToolContext, ToolFailure } from '../../protocol/tools/tool.js';

/** The path in the input of a tool: `what` says what it is of. */
export const pathField = (what: string) =>
  z.string().min(1).describe(`${what}, absolute or from the working directory.`);

/** Absolute, from the agent's working directory. */
export const locate = (
  path: string,
  { cwd, workspace }: Pick<ToolContext, 'cwd' | 'workspace'>,
): string => {
  refuseImpossible(path);
  const startsAtHome = path === '~' || path.startsWith('~/');
  return workspace.resolve(isAbsolute(path) || startsAtHome ? path : join(cwd, path));
};

/** As Linux has it; no other system takes more. */
const LONGEST_PATH = 4_096;

const refuseImpossible = (path: string) => {
  if (path.includes('\0')) throw new ToolFailure('The path contains a NUL character. Remove it.');
  if (!path.isWellFormed()) {
    throw new ToolFailure('The path holds half of a surrogate pair. Send whole characters.');
  }
  if (path.length > LONGEST_PATH) {
    throw new ToolFailure(
      `The path has ${path.length} characters; at most ${LONGEST_PATH} can be used. Check it.`,
    );
  }
};

/** Lets the work pass, and turns a FileError into a sentence that says what to do. */
export const orExplain = async <Result>(work: Promise<Result>): Promise<Result> => {
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
      return `${path} is a file, not a directory. Read shows it; give the directory it lies in.`;
    case 'not-a-file':
      return `${path} is a device, pipe or socket. Only regular files can be used.`;
    case 'denied':
      return `The system denies access to ${path}. Use another file, or tell the user.`;
    case 'read-only':
      return `${path} is on a read-only file system, so nothing was changed. Use another place, or tell the user.`;
    case 'full':
      return `The disk is full, so ${path} is as it was. Free some space or tell the user.`;
    case 'changed':
      return changedSinceRead(path);
    case 'too-large':
      return `${path} is too large to load as a whole. Find the part you need with Grep, or take it with Bash: head, or sed -n '100,200p'.`;
    case 'moved':
      return `${path} leads to another place than when this call was judged: something changed a link on the way. It was not used; make the call again to have it judged as it is now.`;
    case 'io':
      return `${path} could not be used: ${reasonOf(error.cause)}.`;
  }
};

const reasonOf = (cause: unknown) =>
  cause instanceof Error ? cause.message : 'input/output error';
