/** Reads the body of a request, limits its size and parses it as JSON. */
import type { IncomingMessage } from 'node:http';
import { ApiError, invalidRequest } from './api-error.js';

const MAX_BODY_BYTES = 32 * 1024 * 1024;

/**
 * Rejects with ApiError 413 if the body is too long. The rest of the body is still read, because a client that
 * is still writing would not receive the answer.
 */
export const readBody = (request: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) chunks = [];
      else chunks.push(chunk);
    });
    request.once('end', () => {
      if (size > MAX_BODY_BYTES) reject(tooLarge());
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    request.once('error', reject);
  });

export const parseBody = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    const why = (cause as Error).message;
    throw invalidRequest(`The request body is not valid JSON: ${why}`);
  }
};

const tooLarge = () =>
  new ApiError(413, 'request_too_large', 'Request exceeds the maximum allowed number of bytes.');
