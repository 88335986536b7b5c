/** Text weight of messages and its token estimate, for content that no server has counted yet. */
import type { RawJson, WireBlock } from '../../protocol/model/wire-block.js';

export const BYTES_PER_TOKEN = 4;
/** Maximum cost of an image, whatever its size in bytes. */
const TOKENS_PER_IMAGE = 1_600;
/** A PDF page is counted as text and as an image. */
const TOKENS_PER_PAGE = 3_000;
/** Bytes of base64 per PDF page, because the pages are not counted here. */
const BYTES_PER_PAGE = 100_000;

/** Estimates the tokens of `bytes` bytes of JSON: four bytes are one token. */
export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

export const tokensOfText = (text: string): number => tokensOfBytes(Buffer.byteLength(text));

/**
 * Returns the weight of a message of `bytes` bytes, in bytes of text. Images and documents are
 * weighed by their token cost, because their length on the wire says little about it.
 */
export const textWeight = (bytes: number, content: RawJson): number => {
  if (!content.includes('"base64"')) return bytes;
  let weight = bytes;
  for (const { type, data } of mediaIn(JSON.parse(content) as WireBlock[])) {
    const pages = Math.ceil(data.length / BYTES_PER_PAGE);
    const tokens = type === 'image' ? TOKENS_PER_IMAGE : pages * TOKENS_PER_PAGE;
    weight += tokens * BYTES_PER_TOKEN - data.length;
  }
  return Math.max(0, weight);
};

const mediaIn = (blocks: readonly WireBlock[]): { type: string; data: string }[] =>
  blocks.flatMap((block) => {
    if (block.type === 'tool_result' && Array.isArray(block.content)) {
      return mediaIn(block.content as WireBlock[]);
    }
    const source = block.source as { type?: unknown; data?: unknown } | undefined;
    if (source?.type !== 'base64' || typeof source.data !== 'string') return [];
    return [{ type: block.type, data: source.data }];
  });
