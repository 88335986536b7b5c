/**
 * What letters may be made of. Their text is spliced into journals and requests as it stands, so one that was
 * written by nobody knows whom is looked at first: anything else in it would speak as a tool or as the model,
 * and every later request of the agent would be refused.
 */
import { z } from 'zod';
import { type RawJson, rawText } from '../model/wire.js';

const words = z.array(z.object({ type: z.literal('text'), text: z.string().regex(/\S/) })).min(1);

/** Blocks of text, byte for byte as we write them. */
export const isWords = (raw: RawJson): boolean => {
  const { data } = words.safeParse(parsed(raw));
  const blocks = data?.map(({ text }) => rawText(text.toWellFormed()));
  return blocks !== undefined && raw === `[${blocks.join(',')}]`;
};

const PROMPT_BLOCKS: ReadonlySet<unknown> = new Set(['text', 'image', 'document']);

/** Of a letter that is on record: people also show images and documents. */
export const isPrompt = (blocks: unknown): boolean =>
  Array.isArray(blocks) && blocks.every((block) => PROMPT_BLOCKS.has(typeOf(block)));

const typeOf = (block: unknown): unknown =>
  typeof block === 'object' && block !== null && 'type' in block ? block.type : undefined;

const parsed = (raw: RawJson): unknown => {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
};
