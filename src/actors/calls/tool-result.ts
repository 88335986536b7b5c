/** What goes back to the model for a call: one tool_result block, always well-formed and bounded. */
import type { z } from 'zod';
import type { RawJson, WantedCall } from '../../protocol/model/wire.js';
import type { ResultBlock } from '../../protocol/tools/tool.js';

/** Tools bound their own output well below this; it holds for those that do not. */
export const MAX_RESULT_CHARS = 400_000;

export const resultBlock = (
  id: string,
  content: string | readonly ResultBlock[],
  isError: boolean,
): RawJson =>
  JSON.stringify({
    type: 'tool_result',
    tool_use_id: id,
    content: typeof content === 'string' ? bounded(content) : content.map(boundedBlock),
    ...(isError && { is_error: true }),
  });

export const isOverBound = (content: string | readonly ResultBlock[]): boolean =>
  (typeof content === 'string' ? [{ text: content }] : content).some(
    (block) => 'text' in block && block.text.length > MAX_RESULT_CHARS,
  );

const boundedBlock = (block: ResultBlock): ResultBlock =>
  block.type === 'text' ? { ...block, text: bounded(block.text) } : block;

/** Half a surrogate pair is not text, and servers refuse the whole request for it. */
const bounded = (text: string): string => {
  if (text.length <= MAX_RESULT_CHARS) return text.toWellFormed();
  const half = MAX_RESULT_CHARS / 2;
  const cut = text.length - MAX_RESULT_CHARS;
  return `${text.slice(0, half)}\n[… ${cut} characters left out …]\n${text.slice(-half)}`.toWellFormed();
};

export const explainMalformed = ({ tool, malformed = '' }: WantedCall): string =>
  `The input of ${tool} was not a JSON object, so nothing was run. Call it again with valid JSON. You sent: ${malformed.slice(0, 2_000)}`;

export const explainInvalid = (tool: string, error: z.ZodError): string => {
  const problems = error.issues.slice(0, 5).map((issue) => {
    const where = issue.path.length > 0 ? `"${shortened(issue.path.join('.'), 100)}": ` : '';
    return `${where}${shortened(issue.message, 300)}`;
  });
  return `The input of ${tool} is not valid, so nothing was run. ${problems.join('; ')}. Correct the call and try again.`;
};

/** Keys and values of the model's own may be quoted in it, and those have no bound. */
const shortened = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length)}…`.toWellFormed();

/** With words ahead of what a tool said. */
export const prefixed = (
  words: string,
  content: string | readonly ResultBlock[],
): string | readonly ResultBlock[] =>
  typeof content === 'string'
    ? `${words}${content}`.trimEnd()
    : [{ type: 'text', text: words.trimEnd() }, ...content];

export const INTERRUPTED = 'Interrupted by the user before it could finish.';

export const LOST =
  'Skein was stopped while this call was running. It may have had part of its effect or all of it: check before you repeat it.';
