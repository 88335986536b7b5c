/** Text as a tool edits it, and back to the bytes of the file. */
import { Buffer } from 'node:buffer';
import { ToolFailure } from '../../protocol/tools/tool.js';
import { BOM, fileKind } from './file-kind.js';

export interface FileText {
  readonly text: string;
  readonly hasBom: boolean;
}

export const decodeText = (path: string, bytes: Uint8Array): FileText => {
  const file = fileKind(bytes);
  if (file.kind === 'text') return file;
  const what = file.kind === 'image' ? file.mediaType : file.guess;
  throw new ToolFailure(`${path} is not text (${what}), so it cannot be edited here. Use Bash.`);
};

/** Half of a surrogate pair has no UTF-8 form; writing a question mark for it would be a lie. */
export const encodeText = (text: string, field: string, hasBom = false): Uint8Array => {
  if (/\p{Surrogate}/u.test(text)) {
    throw new ToolFailure(
      `${field} holds half of a surrogate pair (like \\ud83d). Send whole characters.`,
    );
  }
  return Buffer.from(hasBom ? BOM + text : text, 'utf8');
};
