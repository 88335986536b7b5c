/** Token accounting where no server has counted yet: four bytes of JSON are taken for one token. */
import type { RawJson, WireBlock } from '../../protocol/model/wire.js';

export const BYTES_PER_TOKEN = 4;
/** The most that a picture costs, however many bytes it has. */
const TOKENS_PER_IMAGE = 1_600;
/** A page of a PDF is read as text and as a picture. */
const TOKENS_PER_PAGE = 3_000;
/** Of base64, for a page whose number nobody counted. */
const BYTES_PER_PAGE = 100_000;

export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/**
 * What a message of so many bytes counts for, in bytes of text. Pictures and documents are not text:
 * how long they are on the wire says little.
 */
export const weightOf = (bytes: number, content: RawJson): number => {
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
