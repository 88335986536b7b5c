/** What a program's tool answered, made into something that every model takes. */
import { z } from 'zod';
import { ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';

/** The largest picture or document that is taken, in base64; servers refuse more. */
const MAX_DATA = 32 * 1024 * 1024;
const MAX_BLOCKS = 100;

const data = z
  .string()
  .min(1)
  .max(MAX_DATA)
  .refine((text) => /^[A-Za-z0-9+/]+={0,2}$/.test(text), { error: 'it is not base64' });

const source = <Media extends z.ZodType>(media_type: Media) =>
  z.object({ type: z.literal('base64'), media_type, data });

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image'),
    source: source(z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])),
  }),
  z.object({ type: z.literal('document'), source: source(z.literal('application/pdf')) }),
]);

const content = z.union([z.string(), z.array(block).max(MAX_BLOCKS)]);
const outcome = z.object({ content, isError: z.boolean().optional() });

/** A history with a block that servers refuse could never be sent again, so none gets in. */
export const checkedAnswer = (tool: string, answer: unknown): ToolOutcome => {
  const given = typeof answer === 'string' || Array.isArray(answer) ? { content: answer } : answer;
  const parsed = outcome.safeParse(given);
  if (!parsed.success) {
    throw new ToolFailure(
      `${tool} ran, but what it returned is no result: it must be text, or a list of text, image and document blocks. Its effect may have happened.`,
    );
  }
  const { content: said, isError } = parsed.data;
  return {
    content: typeof said === 'string' ? said : said.filter(hasSomething),
    ...(isError === true && { isError }),
  };
};

/** A text block without text is refused by servers. */
const hasSomething = (it: z.infer<typeof block>): boolean => it.type !== 'text' || it.text !== '';
