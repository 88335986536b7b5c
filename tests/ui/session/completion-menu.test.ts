import { describe, expect, test } from 'vitest';
import { imagePathsIn } from '../../../src/sdk/api/messages/attach-images.js';
import { draftOf } from '../../../src/terminal/input/draft.js';
import { CompletionMenu, completionAt } from '../../../src/ui/session/completion-menu.js';

const FILES = ['src/main.ts', 'docs/maintaining.md', 'README.md', 'src/deep/domain.ts'];

const textsAt = (text: string, at = text.length) =>
  completionAt({ text, at }, FILES)?.suggestions.map((it) => it.text);

describe('suggestions', () => {
  test('name commands after a slash at the start of the draft', () => {
    expect(textsAt('/co')).toEqual(['/compact ', '/cost', '/context']);
    expect(textsAt('/')).toContain('/help');
    expect(textsAt('see /co')).toBeUndefined();
    expect(textsAt('/compact now')).toBeUndefined();
    expect(textsAt('/nothing')).toBeUndefined();
  });

  test('name files after an at sign, the best match first', () => {
    expect(textsAt('look at @mai')).toEqual([
      '@src/main.ts ',
      '@docs/maintaining.md ',
      '@src/deep/domain.ts ',
    ]);
    expect(textsAt('@src/')).toEqual(['@src/main.ts ', '@src/deep/domain.ts ']);
    expect(textsAt('me@mai')).toBeUndefined();
    expect(textsAt('@nothing-like-it')).toBeUndefined();
  });

  test('match the word at the cursor', () => {
    expect(textsAt('@READ and more', 5)).toEqual(['@README.md ']);
  });
});

describe('file names with special characters', () => {
  const NAMES = [
    'my shot.png',
    "it's.md",
    'a "b".png',
    'two\nlines.md',
    'x\u001b[2J.md',
    'x\u009b.md',
    'x\u202egnp.md',
  ];
  const suggested = (text: string) =>
    completionAt({ text, at: text.length }, NAMES)?.suggestions.map((it) => it.text);

  test('are quoted, or escaped if they contain quotes', () => {
    expect(suggested('see @sho')).toEqual(['@"my shot.png" ']);
    expect(suggested('@it')).toEqual(['@"it\'s.md" ']);
    expect(suggested('@a')).toEqual(['@a\\ \\"b\\".png ']);
  });

  test.each(['my shot.png', 'a "b".png'])('are resolved to the named file: %s', (name) => {
    const [text = ''] = suggested(`@${name.slice(0, 1)}`) ?? [];
    expect(imagePathsIn(`see ${text}now`, '/here')).toEqual([`/here/${name}`]);
  });

  test('are not suggested if they contain control characters', () => {
    expect(suggested('@')).toHaveLength(3);
    expect(suggested('@x')).toBeUndefined();
    expect(suggested('@two')).toBeUndefined();
  });

  test('are completed after an open quote, including spaces', () => {
    const text = 'see @"my sh';
    expect(completionAt({ text, at: text.length }, NAMES)).toEqual({
      from: 4,
      to: 11,
      suggestions: [{ text: '@"my shot.png" ', detail: '' }],
    });
    expect(suggested('see @"my shot.png" and')).toBeUndefined();
    const menu = new CompletionMenu(() => NAMES);
    menu.update(draftOf(text));
    expect(menu.accept(draftOf(text))?.text).toBe('see @"my shot.png" ');
  });
});

describe('the completion menu', () => {
  const menuAt = (text: string) => {
    const menu = new CompletionMenu(() => FILES);
    menu.update(draftOf(text));
    return menu;
  };

  test('inserts the selected suggestion and moves the cursor after it', () => {
    const menu = menuAt('look at @mai');
    menu.move(1);
    expect(menu.accept(draftOf('look at @mai'))).toEqual({
      text: 'look at @docs/maintaining.md ',
      at: 29,
    });
    expect(menu.isOpen).toBe(false);
  });

  test('keeps the text after the cursor', () => {
    const menu = new CompletionMenu(() => FILES);
    const draft = { text: '@READ and more', at: 5 };
    menu.update(draft);
    expect(menu.accept(draft)).toEqual({ text: '@README.md  and more', at: 11 });
  });

  test('keeps its selection while more characters are typed', () => {
    const menu = menuAt('/co');
    menu.move(2);
    menu.update(draftOf('/con'));
    expect(menu.suggestions[menu.chosen]?.text).toBe('/context');
  });

  test('stays closed for a draft after it is dismissed', () => {
    const menu = menuAt('/co');
    menu.dismiss(draftOf('/co'));
    menu.update(draftOf('/co'));
    expect(menu.isOpen).toBe(false);
    menu.update(draftOf('/cos'));
    expect(menu.isOpen).toBe(true);
  });

  test('lets Enter send a fully typed command', () => {
    expect(menuAt('/cost').isFullyTyped(draftOf('/cost'))).toBe(true);
    expect(menuAt('/cos').isFullyTyped(draftOf('/cos'))).toBe(false);
  });

  test('is closed for a fully typed command without arguments', () => {
    expect(menuAt('/cost').isOpen).toBe(false);
    expect(menuAt('/mode').suggestions).toMatchObject([{ text: '/mode ' }]);
  });

  test('ignores arrow keys with a single suggestion', () => {
    expect(menuAt('/co').move(1)).toBe(true);
    expect(menuAt('/mode').move(-1)).toBe(false);
    expect(menuAt('@README.md').move(-1)).toBe(false);
  });

  test('requests files only after an at sign', () => {
    let asked = 0;
    const menu = new CompletionMenu(() => {
      asked += 1;
      return undefined;
    });
    menu.update(draftOf('/co'));
    menu.update(draftOf('hello'));
    expect(asked).toBe(0);
    menu.update(draftOf('@'));
    expect(asked).toBe(1);
  });
});
