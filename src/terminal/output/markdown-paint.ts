/**
 * Colours for what a model says in Markdown, piece by piece as it comes. No letter is added, moved or taken
 * away: without colours nothing is different, and what is copied from the screen is what was said.
 */
import type { Paint } from '../terminal.js';

/** What the pieces before have left open. */
export interface MarkdownState {
  /** The line that began a block of code, and what is written behind its fence. */
  readonly fence?: { readonly marks: string; readonly language: string };
  /** What the line is that has begun; undefined at its start. */
  readonly line?: Colour | 'words';
  /** In a line of words: what was opened and not closed. */
  readonly open?: string;
}

type Colour = keyof Paint;

export const MARKDOWN_START: MarkdownState = {};

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/;
const HEADING = /^ {0,3}#{1,6}\s/;
const QUOTE = /^ {0,3}>/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
/** Backticks, and stars that touch a word. */
const MARKS = /`+|\*\*(?=\S)|(?<=\S)\*\*/g;
/** In front of stars that open something: no word, as there is in `2**3`. */
const STARTS_WORDS = /(?:^|[^\w])$/;

/** A part of a line, or with `isEnd` all that is left of it. */
export const paintMarkdown = (
  piece: string,
  state: MarkdownState,
  paint: Paint,
  isEnd: boolean,
): { readonly text: string; readonly state: MarkdownState } => {
  const begun = state.line === undefined ? beginLine(piece, state) : state;
  const { line = 'words', fence } = begun;
  if (line !== 'words') {
    const text = paint[line](piece);
    return { text, state: isEnd ? keptFence(fence) : begun };
  }
  const { text, open } = paintWords(piece, begun.open ?? '', paint);
  return { text, state: isEnd ? keptFence(fence) : { ...begun, open } };
};

/** At the end of a line only a block of code goes on. */
const keptFence = (fence: MarkdownState['fence']): MarkdownState =>
  fence === undefined ? MARKDOWN_START : { fence };

const beginLine = (text: string, { fence }: MarkdownState): MarkdownState => {
  const [, marks, language = ''] = FENCE.exec(text) ?? [];
  if (fence !== undefined) {
    const closes = marks?.startsWith(fence.marks) === true && language === '';
    return closes ? { line: 'dim' } : { fence, line: codeColour(text, fence.language) };
  }
  if (marks !== undefined) return { fence: { marks, language }, line: 'dim' };
  if (HEADING.test(text)) return { line: 'strong' };
  if (QUOTE.test(text) || RULE.test(text)) return { line: 'dim' };
  return { line: 'words' };
};

const codeColour = (text: string, language: string): Colour => {
  if (language !== 'diff' && language !== 'patch') return 'accent';
  if (text.startsWith('+')) return 'good';
  return text.startsWith('-') ? 'alarm' : 'accent';
};

const paintWords = (
  text: string,
  before: string,
  paint: Paint,
): { readonly text: string; readonly open: string } => {
  let open = before;
  let painted = '';
  let from = 0;
  const upTo = (end: number) => {
    const part = text.slice(from, end);
    painted += open === '' ? part : paint[open === '**' ? 'strong' : 'accent'](part);
    from = end;
  };
  for (const { 0: mark, index } of text.matchAll(MARKS)) {
    // Inside code nothing but its own end counts.
    if (open === mark) {
      upTo(index + mark.length);
      open = '';
    } else if (open === '' && (mark !== '**' || STARTS_WORDS.test(text.slice(0, index)))) {
      upTo(index);
      open = mark;
    }
  }
  upTo(text.length);
  return { text: painted, open };
};
