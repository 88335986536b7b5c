/** File text: decodes the bytes of a file for an edit, and encodes them again. */
import { Buffer } from 'node:buffer';
import { ToolFailure } from '../../protocol/tools/tool.js';
import { BOM, fileKind } from './file-kind.js';

export interface FileText {
  readonly text: string;
  readonly hasBom: boolean;
}

/** Throws ToolFailure if the bytes are not text. */
export const decodeFileText = (path: string, bytes: Uint8Array): FileText => {
  const file = fileKind(bytes);
  if (file.kind === 'text') return file;
  const kind = file.kind === 'image' ? file.mediaType : file.guess;
  throw new ToolFailure(`${path} is not text (${kind}), so it cannot be edited here. Use Bash.`);
};

/** Throws ToolFailure on half of a surrogate pair, because it has no UTF-8 form. */
export const encodeFileText = (text: string, field: string, hasBom = false): Uint8Array => {
  if (/\p{Surrogate}/u.test(text)) {
    throw new ToolFailure(
      `${field} holds half of a surrogate pair (like \\ud83d). Send whole characters.`,
    );
  }
  return Buffer.from(hasBom ? BOM + text : text, 'utf8');
};
