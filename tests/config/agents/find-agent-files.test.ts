import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findAgentFiles } from '../../../src/config/agents/find-agent-files.js';
import { temporaryFolder } from '../temporary-folder.js';

/** Creates a folder of agents in a workspace, and searches it. */
const agentsFolder = (files: readonly string[], isOfWorkspace = true) => {
  const folder = temporaryFolder();
  const root = join(folder.repo, '.claude/agents');
  mkdirSync(root, { recursive: true });
  for (const name of files) folder.put(join('repo/.claude/agents', name), '');
  const source = isOfWorkspace
    ? { path: root, source: 'project' as const, within: folder.repo }
    : { path: root, source: 'user' as const };
  const search = () => {
    const { paths, warnings } = findAgentFiles(source);
    return { names: paths.map((path) => relative(root, path)), warnings };
  };
  return { folder, root, search };
};

describe('the files of a folder of agents', () => {
  test('are found in all sub-folders, the files of upper folders first', () => {
    const { search } = agentsFolder(['b/c/a.md', 'b/x.md', 'z.md', 'a/y.md', 'b/notes.txt']);
    expect(search()).toEqual({ names: ['z.md', 'a/y.md', 'b/x.md', 'b/c/a.md'], warnings: [] });
  });

  test('do not include hidden files and folders, and packages', () => {
    const { search } = agentsFolder(['.a.md', '.git/a.md', 'node_modules/p/a.md', 'a.md']);
    expect(search().names).toEqual(['a.md']);
  });

  test('are none if the folder does not exist or is a file', () => {
    const { folder } = agentsFolder(['a.md']);
    for (const path of ['none', '.claude/agents/a.md']) {
      const found = findAgentFiles({ path: join(folder.repo, path), source: 'user' });
      expect(found).toEqual({ paths: [], warnings: [] });
    }
  });

  test('are found once if links form a loop', () => {
    const { root, search } = agentsFolder(['a/b/x.md', 'y.md']);
    symlinkSync('..', join(root, 'a/b/up'));
    symlinkSync(root, join(root, 'a/root'));
    symlinkSync('self', join(root, 'self'));
    symlinkSync('a', join(root, 'same'));
    expect(search()).toEqual({ names: ['y.md', 'a/b/x.md'], warnings: [] });
  });

  test('are not found behind a link out of the workspace, unlike behind a link of the user', () => {
    const found = [true, false].map((isOfWorkspace) => {
      const { folder, root, search } = agentsFolder(['a.md'], isOfWorkspace);
      folder.put('shared/b.md', '');
      symlinkSync(join(folder.path, 'shared'), join(root, 'shared'));
      return search();
    });
    expect(found).toEqual([
      { names: ['a.md'], warnings: [expect.stringContaining('is ignored: it leads out of')] },
      { names: ['a.md', 'shared/b.md'], warnings: [] },
    ]);
  });

  test('are limited in depth', () => {
    const deep = (levels: number) => `${'d/'.repeat(levels)}a.md`;
    const { search } = agentsFolder([deep(8), deep(9), deep(30)]);
    const { names, warnings } = search();
    expect(names).toEqual([deep(8)]);
    expect(warnings).toEqual([expect.stringContaining('up to 8 folders deep')]);
  });

  test('are limited in number', () => {
    const { root, search } = agentsFolder([]);
    for (let n = 0; n < 1_001; n += 1) writeFileSync(join(root, `a${n}.md`), '');
    const { names, warnings } = search();
    expect(names).toHaveLength(1_000);
    expect(warnings).toEqual([`${root} has 1001 agents; only the first 1000 are read.`]);
  });

  test('with control characters in their names are not read', () => {
    const { search } = agentsFolder(['a\nb.md', 'c\u001B[2J/d.md', 'é 😀 $(x).md']);
    const { names, warnings } = search();
    expect(names).toEqual(['é 😀 $(x).md']);
    expect(warnings).toEqual([
      expect.stringContaining('a\\nb.md" is ignored'),
      expect.stringContaining('c\\u001b[2J" is ignored'),
    ]);
  });
});
