/** The body of a request: whole, within the API's limit, and JSON. */
import type { IncomingMessage } from 'node:http';
import { ApiError, invalidRequest } from './api-error.js';

const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Rejects with a 413 when it is too long; the rest is read and thrown away, so that it is heard. */
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
