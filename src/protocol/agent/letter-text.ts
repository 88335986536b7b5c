/**
 * Checks the content of letters. The JSON of a letter is spliced into journals and requests unchanged,
 * so a letter from an untrusted sender may hold text blocks only. Any other block would speak as a tool
 * or as the model, and the server would refuse every later request of the agent.
 */
import { z } from 'zod';
import { parseJson } from '../../lib/json/parse-json.js';
import { type RawJson, rawText } from '../model/wire-block.js';

const textBlocks = z
  .array(z.object({ type: z.literal('text'), text: z.string().regex(/\S/) }))
  .min(1);

/** True if `raw` is an array of text blocks, byte for byte as Skein serialises them. */
const isLetterText = (raw: RawJson): boolean => {
  const { data } = textBlocks.safeParse(parseJson(raw));
  const blocks = data?.map(({ text }) => rawText(text.toWellFormed()));
  return blocks !== undefined && raw === `[${blocks.join(',')}]`;
};

export const letterText = z
  .string()
  .refine(isLetterText, 'The letter holds other content than text blocks.');

const PROMPT_BLOCKS: ReadonlySet<unknown> = new Set(['text', 'image', 'document']);

/** True if a journaled letter holds only blocks that a person can send: text, images and documents. */
export const isPromptContent = (blocks: unknown): boolean =>
  Array.isArray(blocks) && blocks.every((block) => PROMPT_BLOCKS.has(typeOf(block)));

const typeOf = (block: unknown): unknown =>
  typeof block === 'object' && block !== null && 'type' in block ? block.type : undefined;
