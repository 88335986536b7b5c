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

const walk = async (more: Tree = {}) => {
  const machine = await machineWith({ ...TREE, ...more });
  const memory = machine.memory();
  const near = async (...paths: readonly string[]) =>
    (await memory.nearby(paths.map(machine.at))).files.map(({ text }) => text.split(' ')[0]);
  return { machine, memory, near };
};

describe('memory files below the working directory', () => {
  test('are no part of what opens a conversation', async () => {
    const { memory } = await walk();
    expect((await memory.load()).files.map(({ text }) => text)).toEqual(['Whole.']);
  });

  test('are read when something there is touched, the outer ones first, with what they include', async () => {
    const { near } = await walk();
    expect(await near('repo/web/app/main.ts')).toEqual(['Web.', 'Style.', 'App.', 'Mine.']);
    expect(await near('repo/web/index.ts')).toEqual(['Web.', 'Style.']);
    expect(await near('repo/index.ts')).toEqual([]);
  });

  test('bring their rules along', async () => {
    const { memory, machine, near } = await walk();
    const touched = machine.at('repo/web/app/a.test.ts');
    await near('repo/web/app/a.test.ts');
    expect(memory.rulesFor([touched]).map(({ text }) => text)).toEqual(['Tests.']);
  });

  test.each([
    ['a package that is only brought along', 'repo/node_modules/goose/index.js'],
    ['another repository', 'repo/module/index.ts'],
    ['a part of another repository', 'repo/module/deep/index.ts'],
    ['a file outside', 'other/index.ts'],
  ])('are not those of %s', async (_, path) => {
    const { near } = await walk();
    expect(await near(path)).toEqual([]);
  });

  test('are not those that a link leads to, unless it stays in the workspace', async () => {
    const { near } = await walk({
      'repo/out': { link: '~~/other' },
      'repo/in': { link: '~~/repo/web/app' },
    });
    expect(await near('repo/out/index.ts')).toEqual([]);
    expect(await near('repo/in/index.ts')).toEqual(['App.', 'Mine.']);
  });

  test('stop where the words of others begin', async () => {
    const { near } = await walk();
    expect(await near('repo/web/vendor/x.ts')).toEqual(['Web.', 'Style.']);
  });

  test('are told apart when several are touched at once', async () => {
    const { memory, machine } = await walk({ 'repo/api/CLAUDE.md': 'Api.' });
    const both = await Promise.all(
      ['repo/web/x.ts', 'repo/api/x.ts'].map((path) => memory.nearby([machine.at(path)])),
    );
    expect(both.map(({ files }) => files.map(({ text }) => text.split(' ')[0]))).toEqual([
      ['Web.', 'Style.'],
      ['Api.'],
    ]);
  });

  test('are judged like all others', async () => {
    const { machine, memory } = await walk({
      'repo/bad/CLAUDE.md': { link: '~~/home/.ssh/id_rsa' },
      'home/.ssh/id_rsa': 'PRIVATE',
    });
    const { files, notices } = await memory.nearby([machine.at('repo/bad/x.ts')]);
    expect(files).toEqual([]);
    expect(notices.join()).toContain('such files hold secrets');
    expect(notices.join()).not.toContain('PRIVATE');
  });

  test('are looked for in so many directories and no more', async () => {
    const { machine, memory } = await walk();
    const many = Array.from({ length: 1_200 }, (_, index) => machine.at(`repo/d${index}/x.ts`));
    const { notices } = await memory.nearby(many);
    expect(notices.join()).toContain('in 1000 directories below the working directory');
  });

  test('are read again after a reset', async () => {
    const { machine, memory, near } = await walk();
    await near('repo/web/x.ts');
    await machine.add({ 'repo/web/CLAUDE.md': 'Changed.' });
    expect(await near('repo/web/x.ts')).toEqual(['Web.', 'Style.']);
    memory.reset();
    expect(await near('repo/web/x.ts')).toEqual(['Changed.']);
  });
});
