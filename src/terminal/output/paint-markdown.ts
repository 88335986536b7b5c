/**
 * Colours Markdown text of a model piece by piece as it arrives.
 *
 * No character is added, moved or removed, so the text stays exact without colours and when it is copied.
 */
import type { Paint } from '../terminal.js';

/** State between two pieces. */
export interface MarkdownState {
  /** Fence characters and language of the open code block. */
  readonly fence?: { readonly marks: string; readonly language: string };
  /** Kind of the current line; undefined at its start. */
  readonly line?: Colour | 'words';
  /** Open inline mark in a line of words: backticks or `**`. */
  readonly open?: string;
}

type Colour = keyof Paint;

export const MARKDOWN_START: MarkdownState = {};

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/;
const HEADING = /^ {0,3}#{1,6}\s/;
const QUOTE = /^ {0,3}>/;
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
/** Backticks, and double stars that touch a word. */
const MARKS = /`+|\*\*(?=\S)|(?<=\S)\*\*/g;
/** Text before stars that open bold text: not a word character, as in `2**3`. */
const BEFORE_BOLD = /(?:^|[^\w])$/;

/** Paints a part of a line. `isEnd`: the piece is the end of its line. */
export const paintMarkdown = (
  piece: string,
  state: MarkdownState,
  paint: Paint,
  isEnd: boolean,
): { readonly text: string; readonly state: MarkdownState } => {
  const current = state.line === undefined ? beginLine(piece, state) : state;
  const { line = 'words', fence } = current;
  if (line !== 'words') {
    const text = paint[line](piece);
    return { text, state: isEnd ? keptFence(fence) : current };
  }
  const { text, open } = paintInline(piece, current.open ?? '', paint);
  return { text, state: isEnd ? keptFence(fence) : { ...current, open } };
};

/** Returns the state after a line end: only a code block continues. */
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

const paintInline = (
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
    // Inside an open mark only its own end counts.
    if (open === mark) {
      upTo(index + mark.length);
      open = '';
    } else if (open === '' && (mark !== '**' || BEFORE_BOLD.test(text.slice(0, index)))) {
      upTo(index);
      open = mark;
    }
  }
  upTo(text.length);
  return { text: painted, open };
};
