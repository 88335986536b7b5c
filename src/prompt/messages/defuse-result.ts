/** Defuses the tags of Skein in the result of a tool, so that a result cannot pass for text of Skein. */
import { asciiTagPattern, hasBracket, tagPattern } from '../../lib/text/tag-pattern.js';
import { SKEIN_TAGS } from '../../protocol/model/skein-tags.js';
import type { ResultBlock, ToolOutcome } from '../../protocol/tools/tool.js';

/**
 * Replaces the bracket of each such tag by `[`, and adds a note for the model, because the real text has
 * another character there. A tool that has tags of its own in its content defuses other text itself.
 */
export const defuseResult = <Outcome extends ToolOutcome>(outcome: Outcome): Outcome => {
  if (outcome.isDefused === true) return outcome;
  const content = defuseContent(outcome.content);
  return content === outcome.content ? outcome : { ...outcome, content };
};

/** Returns the same content if it has no tag of Skein. */
export const defuseContent = (
  content: string | readonly ResultBlock[],
): string | readonly ResultBlock[] => {
  if (typeof content === 'string') {
    const { text, count } = defuseText(content);
    return count === 0 ? content : `${text}\n\n${noteOn(count)}`;
  }
  let total = 0;
  const blocks = content.map((block): ResultBlock => {
    if (block.type !== 'text') return block;
    const { text, count } = defuseText(block.text);
    total += count;
    return count === 0 ? block : { type: 'text', text };
  });
  return total === 0 ? content : [...blocks, { type: 'text', text: noteOn(total) }];
};

const defuseText = (source: string): { readonly text: string; readonly count: number } => {
  let count = 0;
  if (!hasBracket(source)) return { text: source, count };
  const text = source.replaceAll(patternFor(source), () => {
    count += 1;
    return '[';
  });
  return { text, count };
};

const noteOn = (count: number): string =>
  count === 1
    ? '[In one place of this result, "[" stands for "<", because a tag there looks like a tag of Skein.]'
    : `[In ${count} places of this result, "[" stands for "<", because tags there look like tags of Skein.]`;

const patternFor = (source: string): RegExp => {
  if (!NOT_ASCII.test(source)) return ASCII_TAGS;
  tags ??= tagPattern(SKEIN_TAGS, { isWholeName: true });
  return tags;
};

const NOT_ASCII = /\P{ASCII}/u;
const ASCII_TAGS = asciiTagPattern(SKEIN_TAGS);
/** Built at the first use, because the pattern takes milliseconds to build. */
let tags: RegExp | undefined;
