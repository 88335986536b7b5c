/** Draft of a prompt as an immutable value, and the edits that keys make to it. */

export interface Draft {
  readonly text: string;
  /** Cursor position in UTF-16 units; never inside a grapheme. */
  readonly at: number;
}

export const EMPTY_DRAFT: Draft = { text: '', at: 0 };

export const draftOf = (text: string): Draft => ({ text, at: text.length });

export const insertText = ({ text, at }: Draft, added: string): Draft => ({
  text: text.slice(0, at) + added + text.slice(at),
  at: at + added.length,
});

/** Removes the text between the cursor and `to`. */
const cut = ({ text, at }: Draft, to: number): Draft => {
  const [from, until] = at < to ? [at, to] : [to, at];
  return { text: text.slice(0, from) + text.slice(until), at: from };
};

type Edit = (draft: Draft) => Draft;

const moveTo =
  (target: (draft: Draft) => number): Edit =>
  (draft) => ({ text: draft.text, at: target(draft) });

const cutTo =
  (target: (draft: Draft) => number): Edit =>
  (draft) =>
    cut(draft, target(draft));

/** Maximum length of a grapheme in UTF-16 units. */
const MAX_GRAPHEME_LENGTH = 64;
const segmenter = new Intl.Segmenter();

const before = ({ text, at }: Draft): number => {
  const window = text.slice(Math.max(0, at - MAX_GRAPHEME_LENGTH), at);
  const last = [...segmenter.segment(window)].at(-1);
  return at - (last?.segment.length ?? 0);
};

const after = ({ text, at }: Draft): number => {
  const [next] = segmenter.segment(text.slice(at, at + MAX_GRAPHEME_LENGTH));
  return at + (next?.segment.length ?? 0);
};

const lineStart = ({ text, at }: Draft): number => text.lastIndexOf('\n', at - 1) + 1;

const lineEnd = ({ text, at }: Draft): number => {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
};

const isWord = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

const wordBefore = ({ text, at }: Draft): number => {
  let to = at;
  while (to > 0 && !isWord(text[to - 1])) to--;
  while (to > 0 && isWord(text[to - 1])) to--;
  return to;
};

const wordAfter = ({ text, at }: Draft): number => {
  let to = at;
  while (to < text.length && !isWord(text[to])) to++;
  while (to < text.length && isWord(text[to])) to++;
  return to;
};

const swap: Edit = (draft) => {
  const { text } = draft;
  const middle = draft.at === text.length ? before(draft) : draft.at;
  const from = before({ text, at: middle });
  const until = after({ text, at: middle });
  if (from === middle || until === middle) return draft;
  const swapped = text.slice(middle, until) + text.slice(from, middle);
  return { text: text.slice(0, from) + swapped + text.slice(until), at: until };
};

/** Returns the last position up to `at` that is not inside a grapheme, in the line that starts at `start`. */
const graphemeBoundary = (text: string, start: number, at: number): number => {
  let position = start;
  for (const { segment } of segmenter.segment(text.slice(start, at + MAX_GRAPHEME_LENGTH))) {
    if (position + segment.length > at) break;
    position += segment.length;
  }
  return position;
};

/** Moves the cursor to the same column of the line above. Returns undefined if there is no line above. */
export const cursorUp = (draft: Draft): Draft | undefined => {
  const start = lineStart(draft);
  if (start === 0) return undefined;
  const above = lineStart({ text: draft.text, at: start - 1 });
  const at = Math.min(start - 1, above + (draft.at - start));
  return { text: draft.text, at: graphemeBoundary(draft.text, above, at) };
};

/** Moves the cursor to the same column of the line below. Returns undefined if there is no line below. */
export const cursorDown = (draft: Draft): Draft | undefined => {
  const end = lineEnd(draft);
  if (end === draft.text.length) return undefined;
  const column = draft.at - lineStart(draft);
  const below = { text: draft.text, at: end + 1 };
  const at = Math.min(lineEnd(below), below.at + column);
  return { text: draft.text, at: graphemeBoundary(draft.text, below.at, at) };
};

const deleteAfter = cutTo(after);
const wordBack = moveTo(wordBefore);
const wordForward = moveTo(wordAfter);
const cutWordBack = cutTo(wordBefore);
const home = moveTo(lineStart);
const end = moveTo(lineEnd);

/** Edits by key, as in Emacs and readline. C is Ctrl, M is Alt. */
export const KEY_EDITS: Readonly<Record<string, Edit>> = {
  left: moveTo(before),
  right: moveTo(after),
  'C-b': moveTo(before),
  'C-f': moveTo(after),
  home,
  end,
  'C-a': home,
  'C-e': end,
  'M-b': wordBack,
  'M-f': wordForward,
  'C-left': wordBack,
  'C-right': wordForward,
  'M-left': wordBack,
  'M-right': wordForward,
  backspace: cutTo(before),
  'C-h': cutTo(before),
  delete: deleteAfter,
  'C-d': deleteAfter,
  'C-u': cutTo(lineStart),
  'C-k': cutTo(lineEnd),
  'C-w': cutWordBack,
  'M-backspace': cutWordBack,
  'M-d': cutTo(wordAfter),
  'C-t': swap,
};
