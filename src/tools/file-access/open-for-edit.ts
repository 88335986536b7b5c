/** Opens a text file for an edit and saves it, if the file is unchanged since the agent read it. */
import { type ToolContext, ToolFailure, type ToolNote } from '../../protocol/tools/tool.js';
import type { FileStamp } from '../../protocol/tools/workspace.js';
import { decodeFileText, encodeFileText } from './file-text.js';
import { changedSinceRead, explainFileError, locateFile } from './locate-file.js';

export const MAX_EDITED_BYTES = 16 * 1024 * 1024;

/** A text file that is unchanged since the agent read it. */
interface OpenedText {
  readonly path: string;
  readonly text: string;
  readonly hasBom: boolean;
  readonly stamp: FileStamp;
}

/** Rejects with ToolFailure if the agent has not read the file or the file changed since. */
export const openForEdit = async (file_path: string, context: ToolContext): Promise<OpenedText> => {
  const path = locateFile(file_path, context);
  const file = await explainFileError(context.workspace.read(path, MAX_EDITED_BYTES));
  const lastRead = context.readStamp(path);
  if (lastRead === undefined) throw new ToolFailure(`You have not read ${path}. Read it first.`);
  if (lastRead.digest !== file.stamp.digest) throw new ToolFailure(changedSinceRead(path));
  return { path, stamp: file.stamp, ...decodeFileText(path, file.bytes) };
};

/**
 * Writes the text if the file is still unchanged. `field` names the input field of the text.
 * Rejects with ToolFailure.
 */
export const saveEdit = async (
  { path, stamp, hasBom }: OpenedText,
  text: string,
  field: string,
  { workspace }: ToolContext,
): Promise<{ readonly stamp: FileStamp; readonly notes: readonly ToolNote[] }> => {
  const bytes = encodeFileText(text, field, hasBom);
  const written = await explainFileError(workspace.write(path, bytes, stamp));
  return { stamp: written, notes: [{ type: 'file.seen', path, stamp: written }] };
};
