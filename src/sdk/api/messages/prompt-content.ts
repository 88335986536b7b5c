/** Prompt content of a host: checks it and converts it to wire blocks. */
import { z } from 'zod';
import type { RawJson } from '../../../protocol/model/wire-block.js';
import { UsageError } from '../../../protocol/skein-error.js';

/** Block types that models accept. Other blocks would fail now and at every later resume. */
const promptBlock = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string().regex(/\S/) }),
  z.looseObject({ type: z.enum(['image', 'document']) }),
]);

export const promptContent = z.union([z.string().regex(/\S/), z.array(promptBlock).min(1)]);

/** Text, or text, image and document blocks of the Messages API. */
export type PromptContent = string | readonly PromptBlock[];

export type PromptBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'document'; readonly source: Readonly<Record<string, unknown>> };

/** Removes `cache_control`, because Skein places the breakpoints, and repairs lone surrogates. */
export const toWireBlocks = (content: PromptContent | z.infer<typeof promptContent>): RawJson => {
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

/** Checks a prompt of unknown type. Throws UsageError if it is empty or of the wrong type. */
export const checkedPrompt = (content: unknown): Prompt => {
  const parsed = promptContent.safeParse(content);
  if (parsed.success) return { blocks: toWireBlocks(parsed.data), title: promptTitle(parsed.data) };
  throw new UsageError(
    'A prompt is text that is not empty, or a list of text, image and document blocks.',
  );
};

/** Returns the first 80 characters of a prompt, on one line. */
export const promptTitle = (content: z.infer<typeof promptContent>): string => {
  const isText = (block: z.infer<typeof promptBlock>) => block.type === 'text';
  const text = typeof content === 'string' ? content : String(content.find(isText)?.text ?? '');
  return text.replaceAll(/\s+/g, ' ').slice(0, 80);
};
