/** The `tool_result` block of a call, always well-formed and bounded. */
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { ResultBlock } from '../../protocol/tools/tool.js';

/** Maximum length of a text block in a result. Tools limit their own output well below this. */
export const MAX_RESULT_CHARS = 400_000;

/** Maximum tokens of text in a result. A longer result is stored as an artifact. */
export const MAX_RESULT_TOKENS = 25_000;

export const toolResult = (
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

/**
 * Cuts the middle out of a long text. Also repairs half surrogate pairs, because servers refuse a
 * request that contains one.
 */
const bounded = (text: string): string => {
  if (text.length <= MAX_RESULT_CHARS) return text.toWellFormed();
  const half = MAX_RESULT_CHARS / 2;
  const cut = text.length - MAX_RESULT_CHARS;
  return `${text.slice(0, half)}\n[… ${cut} characters left out …]\n${text.slice(-half)}`.toWellFormed();
};

/** Puts a text before the content of a result. */
export const prefixed = (
  prefix: string,
  content: string | readonly ResultBlock[],
): string | readonly ResultBlock[] =>
  typeof content === 'string'
    ? `${prefix}${content}`.trimEnd()
    : [{ type: 'text', text: prefix.trimEnd() }, ...content];

/**
 * Results and notice of calls after the maximum of a message. Only the first result explains the
 * limit, because there may be thousands.
 */
export const excessResult = {
  first: (limit: number) =>
    `Not run: a message may request at most ${limit} calls (skein.maxCallsPerMessage), and this call and all later calls of the message are over that limit. Request them in later messages, or do the work with fewer calls.`,
  short: 'Not run: too many calls in this message.',
  notice: (limit: number) =>
    `A message requested more than ${limit} calls (skein.maxCallsPerMessage). The calls over the limit were not run.`,
};

export const INTERRUPTED_RESULT = 'Interrupted by the user before it could finish.';

export const LOST_RESULT =
  'Skein was stopped while this call was running. It may have had part of its effect or all of it: check before you repeat it.';
