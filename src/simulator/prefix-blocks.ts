/**
 * Prefix blocks: a request as the prompt cache sees it, in the order tools, system, messages. Each
 * block has the length and the digest of the prompt up to its end. Breakpoints are not part of a
 * digest.
 */
import { hash } from 'node:crypto';
import {
  type Block,
  blocksOf,
  type CacheControl,
  type MessagesRequest,
} from './messages-request.js';

export interface PrefixBlock {
  /** Tokens of the prompt up to and including this block. */
  readonly end: number;
  /** Digest of the model and of the prompt up to and including this block. */
  readonly digest: string;
  readonly breakpoint: '5m' | '1h' | undefined;
}

/** Tokens of an image, whatever its size. All other content counts as its bytes divided by four. */
const IMAGE_TOKENS = 1600;

/** `betas` are part of every digest, because beta features change how a prompt is rendered. */
export const prefixBlocks = (request: MessagesRequest, betas = ''): readonly PrefixBlock[] => {
  const blocks: PrefixBlock[] = [];
  let digest = betas === '' ? request.model : `${request.model} ${betas}`;
  let end = 0;
  const add = (owner: string, block: Block) => {
    const text = block.type === 'text' && typeof block.text === 'string' ? block.text : undefined;
    const body = text ?? jsonOf(block);
    // The `:` or `#` after the owner separates text from JSON, so that text cannot imitate another block.
    digest = hash('sha1', `${digest}\n${owner}${text === undefined ? '#' : ':'}${body}`, 'base64');
    end += estimateTokens(body) + imagesIn(block) * IMAGE_TOKENS;
    blocks.push({ end, digest, breakpoint: lifetimeOf(block.cache_control) });
  };
  for (const tool of request.tools ?? []) add('tool', tool);
  if (request.system) for (const block of blocksOf(request.system)) add('system', block);
  // These fields are rendered before the conversation, so a change keeps tools and system cached.
  const { tool_choice, thinking, output_config } = request;
  const { effort, format } = (output_config ?? {}) as Record<string, unknown>;
  digest += JSON.stringify([tool_choice, thinking, effort, ...(format ? [format] : [])]);
  for (const message of request.messages)
    for (const block of blocksOf(message.content)) add(message.role, block);
  return withAutomaticBreakpoint(blocks, request.cache_control);
};

export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

/** Moves a breakpoint of the request itself to its last block. */
const withAutomaticBreakpoint = (
  blocks: PrefixBlock[],
  cacheControl: CacheControl | null | undefined,
): readonly PrefixBlock[] => {
  const last = blocks.at(-1);
  const lifetime = lifetimeOf(cacheControl);
  if (last && lifetime && !last.breakpoint)
    blocks[blocks.length - 1] = { ...last, breakpoint: lifetime };
  return blocks;
};

const lifetimeOf = (cacheControl: CacheControl | null | undefined): '5m' | '1h' | undefined =>
  cacheControl ? (cacheControl.ttl ?? '5m') : undefined;

const imagesIn = (block: Block): number => {
  if (block.type === 'image') return 1;
  if (!Array.isArray(block.content)) return 0;
  return block.content.filter((part: Block) => part.type === 'image').length;
};

const jsonOf = (block: Block): string => {
  // Only these blocks nest breakpoints or images. A replacer is slow on the many schemas of a tool list.
  const isNested = Array.isArray(block.content) || block.source !== undefined;
  if (isNested) return JSON.stringify(block, withoutBreakpointsAndImages);
  return JSON.stringify(block.cache_control ? { ...block, cache_control: undefined } : block);
};

/** JSON replacer that drops breakpoints and replaces image data by a digest. */
function withoutBreakpointsAndImages(this: unknown, key: string, value: unknown): unknown {
  if (key === 'cache_control') return undefined;
  if (key === 'data' && typeof value === 'string' && (this as Block).type === 'base64')
    return hash('sha1', value, 'base64');
  return value;
}
