import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { draftOf, KEY_EDITS } from '../../../src/terminal/input/draft.js';
import { type Key, LineEditor, MAX_DRAFT_LENGTH } from '../../../src/terminal/input/line-editor.js';

/** Keys of `C-a`, `M-b` or `left`; other text is typed character by character. */
const keysOf = (stroke: string): readonly Key[] => {
  const [, ctrl, meta, name] = /^(C-)?(M-)?([a-z]+)$/.exec(stroke) ?? [];
  const isNamed = NAMED.includes(name ?? '') || ctrl !== undefined || meta !== undefined;
  if (isNamed) return [{ name, ctrl: ctrl !== undefined, meta: meta !== undefined }];
  return Array.from(stroke).map((sequence) => ({ sequence, name: sequence }));
};
const NAMED = [
  'left',
  'right',
  'up',
  'down',
  'home',
  'end',
  'return',
  'backspace',
  'delete',
  'escape',
];

const editorWith = (history: readonly string[] = []) => {
  const editor = new LineEditor(history);
  const type = (...strokes: readonly string[]) =>
    strokes
      .flatMap(keysOf)
      .map((key) => editor.press(key))
      .at(-1);
  const shown = () => {
    const { text, at } = editor.draft;
    return `${text.slice(0, at)}|${text.slice(at)}`;
  };
  return { editor, type, shown };
};

describe('the line editor', () => {
  test.each([
    ['moves the cursor by characters', ['abc', 'left', 'left', 'X'], 'aX|bc'],
    ['moves the cursor to both ends', ['abc', 'C-a', 'X', 'C-e', 'Y'], 'XabcY|'],
    ['moves the cursor by words', ['one two', 'M-b', 'X', 'M-b', 'M-b', 'Y'], 'Y|one Xtwo'],
    ['deletes on both sides', ['abc', 'left', 'backspace', 'delete'], 'a|'],
    ['deletes a word', ['one two', 'C-w'], 'one |'],
    ['deletes to both ends', ['abcd', 'left', 'left', 'C-k', 'C-u'], '|'],
    ['swaps two characters', ['ab', 'C-t'], 'ba|'],
    ['deletes an emoji as a whole', ['a', '👩‍👩‍👧', 'backspace'], 'a|'],
    ['ignores unknown keys', ['a', 'C-y', 'M-z'], 'a|'],
  ])('%s', (_, strokes, expected) => {
    const { type, shown } = editorWith();
    type(...strokes);
    expect(shown()).toBe(expected);
  });

  test('submits and clears the line at Enter', () => {
    const { type, shown } = editorWith();
    expect(type('hello', 'return')).toEqual({ kind: 'submit', text: 'hello' });
    expect(shown()).toBe('|');
  });

  test('adds a line after a backslash or Alt-Enter', () => {
    const { type, shown } = editorWith();
    type('one\\', 'return', 'two', 'M-return', 'three');
    expect(shown()).toBe('one\ntwo\nthree|');
  });

  test('moves between the lines of the draft before it opens the history', () => {
    const { type, shown } = editorWith(['earlier']);
    type('abc', 'M-return', 'de', 'up');
    expect(shown()).toBe('ab|c\nde');
    type('down');
    expect(shown()).toBe('abc\nde|');
    type('up', 'up');
    expect(shown()).toBe('earlier|');
  });

  test('ends the session at Ctrl-D only if the line is empty', () => {
    const { type, shown } = editorWith();
    type('ab', 'left');
    expect(type('C-d')).toEqual({ kind: 'changed' });
    expect(shown()).toBe('a|');
    type('backspace');
    expect(type('C-d')).toEqual({ kind: 'end' });
  });

  test('keeps the cursor between characters for any keys', () => {
    const strokes = fc.oneof(
      fc.constantFrom(...Object.keys(KEY_EDITS), 'up', 'down', 'M-return'),
      fc.constantFrom('a', ' ', '日', '👩‍👩‍👧', 'é', '_'),
    );
    fc.assert(
      fc.property(fc.array(strokes, { maxLength: 40 }), (pressed) => {
        const { editor, type } = editorWith(['an entry', '日本 👩‍👩‍👧']);
        for (const stroke of pressed) {
          type(stroke);
          const { text, at } = editor.draft;
          expect(at).toBeGreaterThanOrEqual(0);
          expect(at).toBeLessThanOrEqual(text.length);
          expect(text.slice(0, at).isWellFormed() && text.slice(at).isWellFormed()).toBe(true);
        }
      }),
    );
  });
});

describe('a paste', () => {
  test('is inserted at the cursor with its line breaks', () => {
    const { editor, type, shown } = editorWith();
    type('ab', 'left');
    expect(editor.paste('1\r\n2\r3')).toEqual({ kind: 'changed' });
    expect(shown()).toBe('a1\n2\n3|b');
  });

  test('is cut at the maximum length and reported as full', () => {
    const { editor } = editorWith();
    expect(editor.paste('x'.repeat(MAX_DRAFT_LENGTH + 1))).toEqual({ kind: 'full' });
    expect(editor.draft.text).toHaveLength(MAX_DRAFT_LENGTH);
    expect(editor.press({ sequence: 'y' })).toEqual({ kind: 'full' });
    expect(editor.paste('more')).toEqual({ kind: 'full' });
  });
});

describe('earlier prompts', () => {
  const history = ['first', 'second thing', 'third'];

  test('count as recalled only while the line is unchanged', () => {
    const { editor, type } = editorWith(history);
    expect(editor.isRecalled).toBe(false);
    type('up');
    expect(editor.isRecalled).toBe(true);
    type('!');
    expect(editor.isRecalled).toBe(false);
    type('up', 'down', 'down');
    expect(editor.isRecalled).toBe(false);
    type('C-r', 'fir');
    expect(editor.isRecalled).toBe(true);
  });

  test('are recalled with the arrow keys, and the draft after them', () => {
    const { type, shown } = editorWith(history);
    type('now', 'up', 'up');
    expect(shown()).toBe('second thing|');
    type('up', 'up', 'up');
    expect(shown()).toBe('first|');
    type('down', 'down', 'down');
    expect(shown()).toBe('now|');
    type('down');
    expect(shown()).toBe('now|');
  });

  test('are found by a substring, an older match with every Ctrl-R', () => {
    const { editor, type, shown } = editorWith(history);
    type('C-r', 'ir');
    expect(editor.label('> ')).toBe('search "ir": ');
    expect(shown()).toBe('third|');
    type('C-r');
    expect(shown()).toBe('first|');
    type('C-r');
    expect(shown()).toBe('first|');
    expect(type('return')).toEqual({ kind: 'submit', text: 'first' });
    expect(editor.label('> ')).toBe('> ');
  });

  test('leave the draft unchanged after a search without a match', () => {
    const { editor, type, shown } = editorWith(history);
    type('draft', 'C-r', 'zzz');
    expect(editor.label('> ')).toBe('search "zzz" (not found): ');
    expect(shown()).toBe('draft|');
    expect(type('escape')).toEqual({ kind: 'changed' });
    expect(shown()).toBe('draft|');
  });
});

describe('an edit', () => {
  test('leaves an empty line unchanged', () => {
    for (const edit of Object.values(KEY_EDITS))
      expect(edit(draftOf(''))).toEqual({ text: '', at: 0 });
  });
});
