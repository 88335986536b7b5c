/**
 * Describes the file that a Write call would replace, for the question about it. Not part of the
 * input that an answer is bound to.
 */
import { redact } from '../../policy/redaction/redact.js';
import type { ReplacedFile } from '../../protocol/permission/permission-question.js';
import { ToolFailure } from '../../protocol/tools/tool.js';
import { FileError, type Workspace } from '../../protocol/tools/workspace.js';
import { fileKind } from '../../tools/file-access/file-kind.js';
import { locateFile } from '../../tools/file-access/locate-file.js';
import { countLines } from '../../tools/text/line-page.js';
import type { ValidCall } from './judge-call.js';
import type { PermissionManager } from './permission-manager.js';

/** Maximum file size for counting lines, in bytes. A larger file is shown by its size only. */
const MAX_FILE_BYTES = 2_000_000;
/** Maximum length of the quoted text, because the question is posted together with the input. */
const MAX_TEXT_LENGTH = 64_000;

/**
 * Returns the file at the target of a Write call. Returns undefined if there is none or the tool is
 * not Write. Rejects only for defects of Skein.
 */
export const replacedFile = async (
  { tool, request }: ValidCall,
  workspace: Workspace,
  permissions: Pick<PermissionManager, 'rule'>,
): Promise<ReplacedFile | undefined> => {
  if (tool.name !== 'Write') return undefined;
  const { subject, cwd } = request;
  try {
    const path = locateFile(subject.target, { cwd, workspace });
    const stat = await workspace.stat(path);
    if (stat?.kind !== 'file') return undefined;
    const text = await readText(path, workspace);
    return {
      bytes: stat.size,
      ...(text !== undefined && { lines: countLines(text) }),
      ...(text !== undefined && mayBeShown(path, text, permissions) && { text }),
    };
  } catch (error) {
    return ignoreFileError(error);
  }
};

/** Returns undefined if the file is not text or cannot be read. */
const readText = async (path: string, workspace: Workspace): Promise<string | undefined> => {
  try {
    const { bytes } = await workspace.read(path, MAX_FILE_BYTES);
    const file = fileKind(bytes);
    return file.kind === 'text' ? file.text : undefined;
  } catch (error) {
    return ignoreFileError(error);
  }
};

/** Ignores file errors, because the call meets the same error and reports it to the model. */
const ignoreFileError = (error: unknown): undefined => {
  if (error instanceof FileError || error instanceof ToolFailure) return undefined;
  throw error;
};

/**
 * True if the text may be shown. A question is sent to other processes and may be stored, so it
 * must not contain secrets or files that rules protect.
 */
const mayBeShown = (
  path: string,
  text: string,
  permissions: Pick<PermissionManager, 'rule'>,
): boolean => {
  if (text.length > MAX_TEXT_LENGTH || redact(text) !== text) return false;
  const subject = { action: 'read', target: path } as const;
  const { behavior } = permissions.rule({ tool: 'Read', subject, readOnly: true, cwd: '/' }, {});
  return behavior === 'allow';
};
