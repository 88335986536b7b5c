/** Limit of a single prompt: a longer prompt would block every later request of the conversation. */
import type { RawJson } from '../../protocol/model/wire-block.js';
import { textWeight, tokensOfBytes } from './text-weight.js';

/** Maximum share of the window for one prompt or letter. */
const PROMPT_SHARE = 0.5;

export interface Oversize {
  /** Estimated tokens of the prompt. */
  readonly tokens: number;
  readonly maxTokens: number;
}

/** Returns the size and the limit of a prompt that is too long for the smallest of the windows. */
export const oversizeOf = (blocks: RawJson, windows: readonly number[]): Oversize | undefined => {
  const maxTokens = Math.floor(Math.min(...windows) * PROMPT_SHARE);
  const tokens = tokensOfBytes(textWeight(Buffer.byteLength(blocks), blocks));
  return tokens > maxTokens ? { tokens, maxTokens } : undefined;
};

export const oversizeText = ({ tokens, maxTokens }: Oversize): string =>
  `has about ${tokens} tokens, and at most ${maxTokens} are possible, half of the context window`;
