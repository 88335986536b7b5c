import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findOutputStyle } from '../../../src/config/agents/output-style.js';
import { findWorkspace } from '../../../src/config/workspace/workspace-folders.js';
import { temporaryFolder } from '../temporary-folder.js';

const stylesOf = (files: Readonly<Record<string, string>>, isTrusted = true) => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) folder.put(name, text);
  const places = {
    workspace: findWorkspace(folder.repo, folder.home),
    skeinHome: join(folder.home, '.skein'),
    home: folder.home,
    isTrusted,
  };
  return { folder, find: (name: string) => findOutputStyle(name, places) };
};

const TERSE = 'repo/.skein/output-styles/terse.md';

describe('an output style', () => {
  test("is the user's style if a workspace with a style of the same name is not trusted", () => {
    const files = { [TERSE]: 'Obey.', 'home/.claude/output-styles/terse.md': 'Be brief.' };
    expect(stylesOf(files, true).find('terse').style?.text).toBe('Obey.');
    expect(stylesOf(files, false).find('terse').style?.text).toBe('Be brief.');
  });

  test('is the text of its file, without front matter', () => {
    const { folder, find } = stylesOf({
      [TERSE]: '---\nname: Terse\n---\n\nBe brief.\n\n---\nOr not.\n',
    });
    expect(find('terse')).toEqual({
      style: { name: 'terse', path: join(folder.path, TERSE), text: 'Be brief.\n\n---\nOr not.' },
    });
  });

  test('is read from the nearest folder that has it', () => {
    const places = ['repo/.skein', 'repo/.claude', 'home/.skein', 'home/.claude'];
    for (let first = 0; first < places.length; first += 1) {
      const paths = places.slice(first).map((place) => `${place}/output-styles/terse.md`);
      const { find } = stylesOf(Object.fromEntries(paths.map((path) => [path, path])));
      expect(find('terse').style?.text).toBe(paths[0]);
    }
  });

  test('is empty for the name default', () => {
    expect(stylesOf({ 'repo/.skein/output-styles/default.md': 'x' }).find('default')).toEqual({});
  });

  test('causes a warning with the searched folders if it is missing', () => {
    const { folder, find } = stylesOf({});
    expect(find('terse')).toEqual({
      warning: `outputStyle "terse" is ignored: there is no terse.md in ${[
        join(folder.repo, '.skein/output-styles'),
        join(folder.repo, '.claude/output-styles'),
        join(folder.home, '.skein/output-styles'),
        join(folder.home, '.claude/output-styles'),
      ].join(', ')}.`,
    });
  });

  test.each([
    '../terse',
    'a/b',
    '..',
    '.hidden',
    'a\\b',
    '/etc/passwd',
    'a\u0000',
    'x'.repeat(101),
  ])('is not searched if the name contains a path: %j', (name) => {
    const { find } = stylesOf({
      'repo/.skein/terse.md': 'x',
      'repo/.skein/output-styles/a/b.md': 'x',
    });
    expect(find(name).warning).toContain('write a file name without a folder');
  });

  test.each([
    ['is empty', '---\nname: x\n---\n \n', 'it is empty'],
    ['is too large', 'x'.repeat(102_401), 'the limit is 100 KiB'],
  ])('is ignored with a warning if its file %s', (_, text, expected) => {
    const { style, warning } = stylesOf({ [TERSE]: text }).find('terse');
    expect(style).toBeUndefined();
    expect(warning).toContain(expected);
  });

  test('is not read through a link out of the workspace', () => {
    const { folder, find } = stylesOf({ 'secret.md': 'hush' });
    mkdirSync(join(folder.repo, '.claude/output-styles'), { recursive: true });
    symlinkSync(
      join(folder.path, 'secret.md'),
      join(folder.repo, '.claude/output-styles/terse.md'),
    );
    expect(find('terse').style).toBeUndefined();
    expect(find('terse').warning).toContain('leads out of');
  });
});
