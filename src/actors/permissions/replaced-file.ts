/** What a call of Write would replace, for whoever is asked about it; an answer is bound to the input alone. */
import { redact } from '../../policy/redaction/redaction.js';
import type { ReplacedFile } from '../../protocol/permission/permission.js';
import { FileError, ToolFailure, type Workspace } from '../../protocol/tools/tool.js';
import { locate } from '../../tools/files/file-access.js';
import { fileKind } from '../../tools/files/file-kind.js';
import { countLines } from '../../tools/files/line-numbers.js';
import type { ValidCall } from './judge-call.js';
import type { PermissionManager } from './permission-manager.js';

/** Of a larger file only its size is said. */
const MOST_BYTES = 2_000_000;
/** A question has to fit where it is posted, beside the input. */
const LONGEST_TEXT = 64_000;

/** Undefined where nothing is there. Rejects only with errors that are ours. */
export const fileReplacedBy = async (
  { tool, request }: ValidCall,
  workspace: Workspace,
  desk: Pick<PermissionManager, 'rule'>,
): Promise<ReplacedFile | undefined> => {
  if (tool.name !== 'Write') return undefined;
  const { subject, cwd } = request;
  try {
    const path = locate(subject.target, { cwd, workspace });
    const there = await workspace.stat(path);
    if (there?.kind !== 'file') return undefined;
    const text = await textAt(path, workspace);
    return {
      bytes: there.size,
      ...(text !== undefined && { lines: countLines(text) }),
      ...(text !== undefined && mayBeTold(path, text, desk) && { text }),
    };
  } catch (error) {
    return orNothing(error);
  }
};

/** Undefined where it is no text, or cannot be read. */
const textAt = async (path: string, workspace: Workspace): Promise<string | undefined> => {
  try {
    const { bytes } = await workspace.read(path, MOST_BYTES);
    const file = fileKind(bytes);
    return file.kind === 'text' ? file.text : undefined;
  } catch (error) {
    return orNothing(error);
  }
};

/** Whoever runs the call meets the same trouble, and says so to the model. */
const orNothing = (error: unknown): undefined => {
  if (error instanceof FileError || error instanceof ToolFailure) return undefined;
  throw error;
};

/** A question goes to other processes and may lie in a store: what must not be read is no part of it. */
const mayBeTold = (path: string, text: string, desk: Pick<PermissionManager, 'rule'>): boolean => {
  if (text.length > LONGEST_TEXT || redact(text) !== text) return false;
  const subject = { action: 'read', target: path } as const;
  const { behavior } = desk.rule({ tool: 'Read', subject, readOnly: true, cwd: '/' }, {});
  return behavior === 'allow';
};
