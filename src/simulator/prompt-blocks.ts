/**
 * A request as the prompt cache sees it: blocks in the order tools, system, messages, each with its
 * length in tokens and the digest of everything up to and including it. Marks are not part of a
 * digest. One pass over the blocks, one hash each.
 */
import { hash } from 'node:crypto';
import { type Block, blocksOf, type CacheMark, type MessagesRequest } from './messages-request.js';

export interface PromptBlock {
  /** Tokens of the prompt up to and including this block. */
  readonly end: number;
  /** Digest of the model and of the prompt up to and including this block. */
  readonly digest: string;
  readonly mark: '5m' | '1h' | undefined;
}

/** An image costs the same whatever its bytes are; everything else is its bytes divided by four. */
const IMAGE_TOKENS = 1600;

/** `betas` decide how a prompt is rendered, so what is cached with some is not found with others. */
export const promptBlocks = (request: MessagesRequest, betas = ''): readonly PromptBlock[] => {
  const blocks: PromptBlock[] = [];
  let digest = betas === '' ? request.model : `${request.model} ${betas}`;
  let end = 0;
  const add = (owner: string, block: Block) => {
    const text = block.type === 'text' && typeof block.text === 'string' ? block.text : undefined;
    const body = text ?? jsonOf(block);
    // Text is told from JSON by its owner, so that no text can pass for another kind of block.
    digest = hash('sha1', `${digest}\n${owner}${text === undefined ? '#' : ':'}${body}`, 'base64');
    end += tokensOf(body) + imagesIn(block) * IMAGE_TOKENS;
    blocks.push({ end, digest, mark: lifetimeOf(block.cache_control) });
  };
  for (const tool of request.tools ?? []) add('tool', tool);
  if (request.system) for (const block of blocksOf(request.system)) add('system', block);
  // These are rendered ahead of the conversation: changing one keeps tools and system cached.
  const { tool_choice, thinking, output_config } = request;
  const { effort, format } = (output_config ?? {}) as Record<string, unknown>;
  digest += JSON.stringify([tool_choice, thinking, effort, ...(format ? [format] : [])]);
  for (const message of request.messages)
    for (const block of blocksOf(message.content)) add(message.role, block);
  return withAutomaticMark(blocks, request.cache_control);
};

export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

/** A mark on the request itself stands for one on its last block. */
const withAutomaticMark = (
  blocks: PromptBlock[],
  mark: CacheMark | null | undefined,
): readonly PromptBlock[] => {
  const last = blocks.at(-1);
  const lifetime = lifetimeOf(mark);
  if (last && lifetime && !last.mark) blocks[blocks.length - 1] = { ...last, mark: lifetime };
  return blocks;
};

const lifetimeOf = (mark: CacheMark | null | undefined): '5m' | '1h' | undefined =>
  mark ? (mark.ttl ?? '5m') : undefined;

const imagesIn = (block: Block): number => {
  if (block.type === 'image') return 1;
  if (!Array.isArray(block.content)) return 0;
  return block.content.filter((part: Block) => part.type === 'image').length;
};

const jsonOf = (block: Block): string => {
  // Only these nest marks or images, and a replacer is slow on the many schemas of a tool list.
  const isNested = Array.isArray(block.content) || block.source !== undefined;
  if (isNested) return JSON.stringify(block, withoutMarksAndImages);
  return JSON.stringify(block.cache_control ? { ...block, cache_control: undefined } : block);
};

/** Image data still decides the digest, by its own short one. */
function withoutMarksAndImages(this: unknown, key: string, value: unknown): unknown {
  if (key === 'cache_control') return undefined;
  if (key === 'data' && typeof value === 'string' && (this as Block).type === 'base64')
    return hash('sha1', value, 'base64');
  return value;
}
