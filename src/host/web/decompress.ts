/** Decompresses a body up to a limit, against decompression bombs. */
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
} from 'node:zlib';
import { WebFailure } from '../../protocol/tools/web.js';

export interface Decompressed {
  readonly bytes: Uint8Array;
  readonly cut: boolean;
}

/** Decompresses a truncated body as far as possible. Rejects with WebFailure. */
export const decompress = async (
  body: Uint8Array,
  encoding = 'identity',
  limit: number,
): Promise<Decompressed> => {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity' || body.length === 0) return { bytes: body, cut: false };
  const stream = decompressorFor(name, body);
  if (stream === undefined) {
    throw new WebFailure('The server used an unknown compression.');
  }
  const chunks: Buffer[] = [];
  let length = 0;
  stream.end(body);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const rest = limit - length;
      chunks.push(chunk.subarray(0, rest));
      length += Math.min(chunk.length, rest);
      if (chunk.length > rest) return { bytes: Buffer.concat(chunks), cut: true };
    }
  } catch (cause) {
    throw new WebFailure('The server sent a compressed answer that cannot be unpacked.', { cause });
  }
  return { bytes: Buffer.concat(chunks), cut: false };
};

const FLUSH = { finishFlush: constants.Z_SYNC_FLUSH };

const decompressorFor = (name: string, body: Uint8Array) => {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(FLUSH);
    case 'deflate':
      // Some servers omit the two-byte zlib header.
      return ((body[0] ?? 0) & 0x0f) === 8 ? createInflate(FLUSH) : createInflateRaw(FLUSH);
    case 'br':
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
    default:
      return undefined;
  }
};
