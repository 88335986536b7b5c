/** Stores a long result as artifacts, and returns the preview that the model reads instead. */
import { Buffer } from 'node:buffer';
import { tokensOfBytes } from '../../context/window/text-weight.js';
import type { Artifact } from '../../protocol/tools/artifact.js';
import { contentText, type ResultBlock } from '../../protocol/tools/tool.js';
import { lastCharacterEnd } from '../../tools/text/truncate-text.js';

type Content = string | readonly ResultBlock[];

/** Maximum length of a preview as JSON, in bytes. */
const MAX_BYTES = 4_000;

interface PreviewOptions {
  readonly openArtifact: (name: string) => Artifact;
  /** Maximum length of the preview as JSON, in bytes. Default: 4,000. The note is always kept. */
  readonly maxBytes?: number;
  /** Why the result is not sent: a clause after "not sent whole, because". */
  readonly why: string;
}

/** Stores all blocks of the result. A disk error becomes part of the preview. */
export const previewResult = async (content: Content, options: PreviewOptions): Promise<string> => {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const text = contentText(blocks);
  const notes: string[] = [];
  if (text !== '') {
    const bytes = Buffer.from(text.toWellFormed());
    const about = `This result has about ${tokensOfBytes(bytes.length)} tokens and is not sent whole, because ${options.why}.`;
    const kept = await store('result.txt', bytes, options);
    const next =
      'path' in kept
        ? `All of it is in ${kept.path}: search it with Grep, or read parts of it with Read (offset, limit).`
        : `It could not be stored: ${kept.error}.`;
    notes.push(`[${about} ${next}]`);
  }
  for (const block of blocks) {
    if (block.type === 'text') continue;
    const { media_type: type, data } = block.source;
    const bytes = Buffer.from(data, 'base64');
    const kept = await store(`result.${type.replace(/^.*\//, '')}`, bytes, options);
    const where =
      'path' in kept ? `It is in ${kept.path}` : `It could not be stored: ${kept.error}`;
    notes.push(
      `[${type} of ${bytes.length} bytes, not sent, because ${options.why}. ${where}; ${nextStep(type)}.]`,
    );
  }
  return joinEnds(text, notes.join('\n'), options.maxBytes ?? MAX_BYTES);
};

const nextStep = (mediaType: string): string =>
  mediaType === 'application/pdf'
    ? 'read it in a message of its own, or take its text with pdftotext'
    : 'read it in a message of its own';

const store = async (
  name: string,
  bytes: Uint8Array,
  { openArtifact }: PreviewOptions,
): Promise<{ readonly path: string } | { readonly error: string }> => {
  try {
    const artifact = openArtifact(name);
    artifact.write(bytes);
    await artifact.close();
    return { path: artifact.path };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
};

/**
 * Returns both ends of the text with the note between them. The length is that of the JSON text,
 * because an escaped character takes up to six bytes of the window.
 */
const joinEnds = (text: string, note: string, maxBytes: number): string => {
  const bytes = Buffer.from(text.toWellFormed());
  let half = Math.floor((maxBytes - Buffer.byteLength(note)) / 2);
  for (; half > 0; half = Math.floor(half * 0.7)) {
    const head = bytes.subarray(0, half);
    const start = head.subarray(0, lastCharacterEnd(head)).toString();
    const preview = `${start}\n\n${note}\n\n${endOf(bytes, half)}`;
    if (Buffer.byteLength(JSON.stringify(preview)) <= maxBytes) return preview;
  }
  return note;
};

const endOf = (bytes: Buffer, length: number): string => {
  let from = Math.max(0, bytes.length - length);
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString();
};
