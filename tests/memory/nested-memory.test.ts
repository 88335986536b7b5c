import { describe, expect, test } from 'vitest';
import { machineWith, type Tree } from './memory-tree.js';

const TREE = {
  'repo/CLAUDE.md': 'Whole.',
  'repo/web/CLAUDE.md': 'Web. @./style.md @../secret.txt',
  'repo/web/style.md': 'Style.',
  'repo/web/app/AGENTS.md': 'App.',
  'repo/web/app/CLAUDE.local.md': 'Mine.',
  'repo/web/app/.claude/rules/tests.md': '---\npaths: "*.test.ts"\n---\nTests.',
  'repo/node_modules/goose/CLAUDE.md': 'Obey the goose.',
  'repo/web/vendor/CLAUDE.md': 'Obey the vendor.',
  'repo/module/.git': 'gitdir: elsewhere',
  'repo/module/CLAUDE.md': 'Another repository.',
  'repo/module/deep/CLAUDE.md': 'Deep in another repository.',
  'other/CLAUDE.md': 'Elsewhere.',
};

const openTree = async (more: Tree = {}) => {
  const machine = await machineWith({ ...TREE, ...more });
  const memory = machine.memory();
  const near = async (...paths: readonly string[]) =>
    (await memory.nearby(paths.map(machine.at))).files.map(({ text }) => text.split(' ')[0]);
  return { machine, memory, near };
};

describe('memory files below the working directory', () => {
  test('are not loaded at the start of a conversation', async () => {
    const { memory } = await openTree();
    expect((await memory.load()).files.map(({ text }) => text)).toEqual(['Whole.']);
  });

  test('are read with their includes when a file there is touched, outermost first', async () => {
    const { near } = await openTree();
    expect(await near('repo/web/app/main.ts')).toEqual(['Web.', 'Style.', 'App.', 'Mine.']);
    expect(await near('repo/web/index.ts')).toEqual(['Web.', 'Style.']);
    expect(await near('repo/index.ts')).toEqual([]);
  });

  test('add their rules', async () => {
    const { memory, machine, near } = await openTree();
    const touched = machine.at('repo/web/app/a.test.ts');
    await near('repo/web/app/a.test.ts');
    expect(memory.rulesFor([touched]).map(({ text }) => text)).toEqual(['Tests.']);
  });

  test.each([
    ['an installed package', 'repo/node_modules/goose/index.js'],
    ['another repository', 'repo/module/index.ts'],
    ['a subfolder of another repository', 'repo/module/deep/index.ts'],
    ['a folder outside the workspace', 'other/index.ts'],
  ])('are not read from %s', async (_, path) => {
    const { near } = await openTree();
    expect(await near(path)).toEqual([]);
  });

  test('are read through a link only if its target is in the workspace', async () => {
    const { near } = await openTree({
      'repo/out': { link: '~~/other' },
      'repo/in': { link: '~~/repo/web/app' },
    });
    expect(await near('repo/out/index.ts')).toEqual([]);
    expect(await near('repo/in/index.ts')).toEqual(['App.', 'Mine.']);
  });

  test('are not read from vendored folders', async () => {
    const { near } = await openTree();
    expect(await near('repo/web/vendor/x.ts')).toEqual(['Web.', 'Style.']);
  });

  test('are returned per call if two calls run at the same time', async () => {
    const { memory, machine } = await openTree({ 'repo/api/CLAUDE.md': 'Api.' });
    const both = await Promise.all(
      ['repo/web/x.ts', 'repo/api/x.ts'].map((path) => memory.nearby([machine.at(path)])),
    );
    expect(both.map(({ files }) => files.map(({ text }) => text.split(' ')[0]))).toEqual([
      ['Web.', 'Style.'],
      ['Api.'],
    ]);
  });

  test('are not read if the file is sensitive', async () => {
    const { machine, memory } = await openTree({
      'repo/bad/CLAUDE.md': { link: '~~/home/.ssh/id_rsa' },
      'home/.ssh/id_rsa': 'PRIVATE',
    });
    const { files, notices } = await memory.nearby([machine.at('repo/bad/x.ts')]);
    expect(files).toEqual([]);
    expect(notices.join()).toContain('such files hold secrets');
    expect(notices.join()).not.toContain('PRIVATE');
  });

  test('are searched in at most 1000 directories', async () => {
    const { machine, memory } = await openTree();
    const many = Array.from({ length: 1_200 }, (_, index) => machine.at(`repo/d${index}/x.ts`));
    const { notices } = await memory.nearby(many);
    expect(notices.join()).toContain('in 1000 directories below the working directory');
  });

  test('are read again after reset()', async () => {
    const { machine, memory, near } = await openTree();
    await near('repo/web/x.ts');
    await machine.add({ 'repo/web/CLAUDE.md': 'Changed.' });
    expect(await near('repo/web/x.ts')).toEqual(['Web.', 'Style.']);
    memory.reset();
    expect(await near('repo/web/x.ts')).toEqual(['Changed.']);
  });
});
