/** A prompt as a host gives it, checked and made into the blocks that are sent. */
import { z } from 'zod';
import { UsageError } from '../../../protocol/errors.js';
import type { RawJson } from '../../../protocol/model/wire.js';

/** Anything else would be refused by every model, now and whenever the session is resumed. */
const promptBlock = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string().regex(/\S/) }),
  z.looseObject({ type: z.enum(['image', 'document']) }),
]);

export const promptContent = z.union([z.string().regex(/\S/), z.array(promptBlock).min(1)]);

/** Text, or blocks of the Messages API: text, images, documents. */
export type PromptContent = string | readonly PromptBlock[];

export type PromptBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'document'; readonly source: Readonly<Record<string, unknown>> };

/** Cache marks are ours to place, and half a surrogate pair is not text. */
export const promptBlocks = (content: PromptContent | z.infer<typeof promptContent>): RawJson => {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return JSON.stringify(blocks, (key, value: unknown) => {
    if (key === 'cache_control') return undefined;
    return typeof value === 'string' ? value.toWellFormed() : value;
  });
};

export interface Prompt {
  readonly blocks: RawJson;
  readonly title: string;
}

/** For what a program hands over: whatever it is. */
export const checkedPrompt = (content: unknown): Prompt => {
  const parsed = promptContent.safeParse(content);
  if (parsed.success) return { blocks: promptBlocks(parsed.data), title: titleOf(parsed.data) };
  throw new UsageError(
    'A prompt is text that is not empty, or a list of text, image and document blocks.',
  );
};

/** The first words of a prompt, on one line. */
export const titleOf = (content: z.infer<typeof promptContent>): string => {
  const isText = (block: z.infer<typeof promptBlock>) => block.type === 'text';
  const text = typeof content === 'string' ? content : String(content.find(isText)?.text ?? '');
  return text.replaceAll(/\s+/g, ' ').slice(0, 80);
};
