/** Detects the file kind (text, image, PDF, binary) from the bytes, never from the name. */
import { imageSize } from './image-size.js';

type FileKind =
  | { readonly kind: 'text'; readonly text: string; readonly hasBom: boolean }
  | { readonly kind: 'image'; readonly mediaType: string }
  | { readonly kind: 'pdf'; readonly guess: 'PDF document' }
  | { readonly kind: 'binary'; readonly guess: string };

const PROBE_BYTES = 8_000;

export const fileKind = (bytes: Uint8Array): FileKind => {
  const mediaType = imageType(bytes);
  if (mediaType !== undefined) {
    const isWhole = imageSize(bytes, mediaType) !== undefined;
    return isWhole
      ? { kind: 'image', mediaType }
      : { kind: 'binary', guess: `${mediaType} with a broken header` };
  }
  if (startsWith(bytes, '%PDF-')) return { kind: 'pdf', guess: 'PDF document' };
  const match = SIGNATURES.find(([signature]) => startsWith(bytes, signature));
  if (match !== undefined) return { kind: 'binary', guess: match[1] };
  if (bytes.subarray(0, PROBE_BYTES).includes(0)) return { kind: 'binary', guess: 'binary data' };
  return asText(bytes);
};

const asText = (bytes: Uint8Array): FileKind => {
  try {
    const text = DECODER.decode(bytes);
    const hasBom = text.startsWith(BOM);
    return { kind: 'text', text: hasBom ? text.slice(1) : text, hasBom };
  } catch {
    return { kind: 'binary', guess: 'not valid UTF-8' };
  }
};

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const BOM = '\ufeff';

const imageType = (bytes: Uint8Array): string | undefined => {
  if (startsWith(bytes, '\x89PNG\r\n\x1a\n')) return 'image/png';
  if (startsWith(bytes, '\xff\xd8\xff')) return 'image/jpeg';
  if (startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) return 'image/gif';
  const isWebp = startsWith(bytes, 'RIFF') && startsWith(bytes.subarray(8), 'WEBP');
  return isWebp ? 'image/webp' : undefined;
};

/**
 * First bytes of common formats, in Latin-1. The order matters where a signature is a prefix of
 * another.
 */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ['PK\x03\x04', 'ZIP archive or office document'],
  ['\x1f\x8b', 'gzip data'],
  ['\x28\xb5\x2f\xfd', 'Zstandard data'],
  ['\xfd7zXZ\x00', 'XZ data'],
  ['\x7fELF', 'ELF executable'],
  ['\xcf\xfa\xed\xfe', 'Mach-O executable'],
  ['\xca\xfe\xba\xbe', 'Java class or universal Mach-O executable'],
  ['\x00asm', 'WebAssembly module'],
  ['SQLite format 3\x00', 'SQLite database'],
  ['\xff\xfe\x00\x00', 'UTF-32 text'],
  ['\xff\xfe', 'UTF-16 text'],
  ['\xfe\xff', 'UTF-16 text'],
];

const startsWith = (bytes: Uint8Array, signature: string): boolean => {
  for (let at = 0; at < signature.length; at += 1) {
    if (bytes[at] !== signature.charCodeAt(at)) return false;
  }
  return true;
};
