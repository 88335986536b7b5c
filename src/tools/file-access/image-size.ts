/** Reads the image size from the header of a picture, to detect broken pictures. */
import { Buffer } from 'node:buffer';

/** Maximum image size in bytes: the Messages API takes 5 MiB of base64, which is a third longer. */
export const MAX_IMAGE_BYTES = 3_932_160;

interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Returns undefined if the header is truncated, broken or has no size. */
export const imageSize = (bytes: Uint8Array, mediaType: string): ImageSize | undefined => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = READERS[mediaType]?.(view);
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
  } catch {
    // The header is truncated.
    return undefined;
  }
};

const READERS: Readonly<Record<string, (view: Buffer) => ImageSize | undefined>> = {
  'image/png': (view) =>
    view.toString('latin1', 12, 16) === 'IHDR'
      ? { width: view.readUInt32BE(16), height: view.readUInt32BE(20) }
      : undefined,
  'image/gif': (view) => ({ width: view.readUInt16LE(6), height: view.readUInt16LE(8) }),
  'image/webp': (view) => webpSize(view),
  'image/jpeg': (view) => jpegSize(view),
};

const webpSize = (view: Buffer): ImageSize | undefined => {
  switch (view.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = view.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
};

/** Walks the segments to the frame header, which holds the size. */
const jpegSize = (view: Buffer): ImageSize | undefined => {
  for (let at = 2; view.readUInt8(at) === 0xff; ) {
    const marker = view.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.readUInt16BE(at + 7), height: view.readUInt16BE(at + 5) };
    at += marker === 0xff ? 1 : 2 + view.readUInt16BE(at + 2);
  }
  return undefined;
};
