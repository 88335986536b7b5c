/**
 * Loads the memory of repositories with hostile content: it stays bounded and reveals no secrets.
 */
import { execFileSync } from 'node:child_process';
import { linkSync } from 'node:fs';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { MEMORY_LIMITS } from '../../src/memory/memory-limits.js';
import type { Memory } from '../../src/protocol/tools/memory.js';
import { machineWith, pathsOf, type Tree } from './memory-tree.js';

const SECRET = 'hunter2-do-not-tell';

const charactersOf = ({ files, rules }: Memory) =>
  [...files, ...rules].reduce((sum, { text }) => sum + text.length, 0);

/** Checks that the memory is bounded, contains no secret and has the user's file. */
const expectHarmless = (memory: Memory) => {
  expect(memory.files.length + memory.rules.length).toBeLessThanOrEqual(2 * MEMORY_LIMITS.files);
  expect(charactersOf(memory)).toBeLessThanOrEqual(2 * MEMORY_LIMITS.characters);
  expect(memory.notices.length).toBeLessThanOrEqual(MEMORY_LIMITS.notices + 1);
  for (const notice of memory.notices) expect(notice.length).toBeLessThan(1_000);
  expect(JSON.stringify(memory)).not.toContain(SECRET);
  expect(JSON.stringify(memory)).not.toMatch(/root:[^"]*:\d+:/);
  expect(memory.files.map(({ text }) => text)).toContain('What the user wrote.');
};

const machine = (tree: Tree) =>
  machineWith({
    'home/.claude/CLAUDE.md': 'What the user wrote.',
    'home/.ssh/id_ed25519': SECRET,
    'home/.aws/credentials': SECRET,
    'home/private.md': SECRET,
    'repo/.git/HEAD': 'ref: refs/heads/main\n',
    'repo/.env': SECRET,
    'repo/config/.env.production': SECRET,
    ...tree,
  });

describe('a malicious repository', () => {
  test('cannot include files outside the repository or secrets', async () => {
    const poisoned = await machine({
      'repo/CLAUDE.md': [
        '@/etc/shadow @/etc/passwd @~/.ssh/id_ed25519 @~/.aws/credentials @~/private.md',
        '@.env @./config/.env.production @../home/private.md @/proc/self/environ',
        '@./x/../../home/private.md @~/../home/private.md @.git/../../home/private.md',
      ].join('\n'),
    });
    const memory = await poisoned.load();
    expectHarmless(memory);
    expect(pathsOf(poisoned, memory)).toEqual(['home/.claude/CLAUDE.md', 'repo/CLAUDE.md']);
    for (const path of [
      '/etc/passwd',
      poisoned.at('home/.ssh/id_ed25519'),
      poisoned.at('repo/.env'),
    ]) {
      expect(memory.notices.filter((notice) => notice.startsWith(`${path}, which`))).toHaveLength(
        1,
      );
    }
  });

  test('cannot reach secrets through links', async () => {
    const poisoned = await machine({
      'repo/CLAUDE.md': { link: '/etc/shadow' },
      'repo/AGENTS.md': { link: '~~/home/.ssh/id_ed25519' },
      'repo/CLAUDE.local.md': { link: '~~/home/private.md' },
      'repo/.skein/CLAUDE.md': { link: '/proc/self/environ' },
      'repo/.skein/rules': { link: '~~/home/.ssh' },
      'repo/.claude/rules/a.md': { link: '~~/repo/.env' },
      'repo/.claude/rules/b.md': { link: '/etc/passwd' },
      'repo/.claude/rules/home': { link: '~~/home' },
      'repo/.claude/rules/etc': { link: '/etc' },
      'repo/.claude/CLAUDE.md': '@in.md @../up/private.md',
      'repo/.claude/in.md': { link: '../.env' },
      'repo/up': { link: '~~/home' },
    });
    const memory = await poisoned.load();
    expectHarmless(memory);
    expect(pathsOf(poisoned, memory)).toEqual(['home/.claude/CLAUDE.md', 'repo/.claude/CLAUDE.md']);
    expect(memory.notices.length).toBeGreaterThanOrEqual(9);
  });

  test('cannot cause endless loops with includes or links', async () => {
    const poisoned = await machine({
      'repo/CLAUDE.md': '@CLAUDE.md @a.md @loop @loop/a.md @self/self/self/a.md',
      'repo/a.md': '@CLAUDE.md @a.md',
      'repo/loop': { link: 'loop' },
      'repo/self': { link: '.' },
      'repo/.claude/rules/round': { link: '.' },
      'repo/.claude/rules/up': { link: '..' },
      'repo/.claude/rules/top': { link: '../..' },
      'repo/.claude/rules/r.md': 'rule',
    });
    const memory = await poisoned.load();
    expectHarmless(memory);
    expect(pathsOf(poisoned, memory).filter((path) => path.startsWith('repo/'))).toEqual(
      expect.arrayContaining(['repo/CLAUDE.md', 'repo/a.md', 'repo/.claude/rules/r.md']),
    );
    expect(memory.files).toHaveLength(4);
  });

  test('cannot load ten thousand files', async () => {
    const poisoned = await machine({
      'repo/.claude/rules/first.md': 'rule',
      'repo/CLAUDE.local.md': 'Private.',
    });
    // Hard links are created faster than files.
    const rules = poisoned.at('repo/.claude/rules');
    for (let count = 1; count < 10_000; count += 1)
      linkSync(`${rules}/first.md`, `${rules}/${count}.md`);
    const memory = await poisoned.load();
    expectHarmless(memory);
    expect(memory.files.filter(({ layer }) => layer === 'project')).toHaveLength(
      MEMORY_LIMITS.files,
    );
    expect(memory.files.at(-1)?.text).toBe('Private.');
    expect(memory.notices).toEqual([expect.stringContaining('more than 250 memory files')]);
  });

  test('cannot name unlimited files', async () => {
    const poisoned = await machine({
      'repo/CLAUDE.md': Array.from({ length: 8_000 }, (_, index) => `@${index}`).join('\n\n'),
      'repo/AGENTS.md': '@'.repeat(1_000_000),
      'repo/.claude/CLAUDE.md': '@a '.repeat(100_000),
    });
    const memory = await poisoned.load();
    expectHarmless(memory);
    expect(memory.notices.join('\n')).toContain('names more than 3000 memory files');
  });

  test('cannot load files above the size limit', async () => {
    const poisoned = await machine({
      'repo/CLAUDE.md': '@fifty.md @sparse.md @grown.md @ok.md',
      'repo/ok.md': 'ok',
    });
    await writeFile(poisoned.at('repo/fifty.md'), Buffer.alloc(50 * 1024 * 1024, 'x'));
    await writeFile(poisoned.at('repo/sparse.md'), '');
    await truncate(poisoned.at('repo/sparse.md'), 1024 ** 4);
    await writeFile(poisoned.at('repo/grown.md'), 'x'.repeat(MEMORY_LIMITS.fileBytes + 1));
    const memory = await poisoned.load();
    expectHarmless(memory);
    expect(memory.files.at(-1)?.text).toBe('ok');
    expect(memory.notices).toEqual(
      ['fifty', 'sparse', 'grown'].map((name) =>
        expect.stringContaining(`${name}.md is left out: it has more than`),
      ),
    );
  });

  test('cannot exceed the total size with files of an allowed size', async () => {
    const large = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [
        `repo/.claude/rules/${index}.md`,
        'x'.repeat(100_000),
      ]),
    );
    const memory = await (await machine(large)).load();
    expectHarmless(memory);
    expect(memory.files.filter(({ layer }) => layer === 'project')).toHaveLength(4);
    expect(memory.notices.join('\n')).toContain('400000 characters at most');
  });

  test('cannot block the loader with named pipes', async () => {
    const poisoned = await machine({ 'repo/sub/x': '' });
    for (const name of ['CLAUDE.md', '.git/commondir', 'sub/pipe.md']) {
      execFileSync('mkfifo', [poisoned.at(`repo/${name}`)]);
    }
    await poisoned.add({ 'repo/AGENTS.md': '@sub/pipe.md' });
    const memory = await poisoned.load();
    expectHarmless(memory);
    expect(memory.notices).toEqual([
      `${poisoned.at('repo/CLAUDE.md')} is not read: it is not a regular file.`,
      `${poisoned.at('repo/sub/pipe.md')}, which ${poisoned.at('repo/AGENTS.md')} includes, is not read: it is not a regular file.`,
    ]);
  });

  test('cannot block the loader with a named pipe as .git', async () => {
    const poisoned = await machineWith({
      'home/.claude/CLAUDE.md': 'What the user wrote.',
      'repo/CLAUDE.md': 'x',
    });
    execFileSync('mkfifo', [poisoned.at('repo/.git')]);
    expectHarmless(await poisoned.load());
  });

  test('cannot break the loader with binary content or control characters', async () => {
    const noise = Buffer.from(
      Array.from({ length: 5_000 }, (_, index) => 1 + ((index * 7_919) % 255)),
    );
    const poisoned = await machine({
      'repo/CLAUDE.md': noise,
      'repo/AGENTS.md': Buffer.from([0xff, 0xfe, 0x41, 0x00]),
      'repo/.claude/CLAUDE.md': '<!-- never closed\n\n@~/private.md\n\nand on',
      'repo/.claude/rules/\u202Eevil\n\u001b[2Jname.md': { link: '/etc/passwd' },
    });
    const memory = await poisoned.load();
    expectHarmless(memory);
    expect(memory.files.map(({ text }) => text).join('')).toContain('never closed');
    expect(memory.notices.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test.each([
    ['quotes', '>'],
    ['lazy quotes', '> a\nb\n'],
    ['brackets', '['],
    ['images', '!['],
    ['stars', '*'],
    ['emphasis', '**_a '],
    ['more emphasis', '*a**b_'],
    ['ticks', '`a``b```c````d'],
    ['comments', '<!--'],
    ['inline comments', 'a <!--'],
    ['processing instructions', 'a <?'],
    ['tags', 'a <b '],
    ['lists', '- '],
    ['items', '- a\n'],
    ['numbers', '1. '],
    ['definitions', '[a]: b\n'],
    ['links', '[a](b'],
    ['braces', '{'],
    ['lines', '\n'],
    ['front matter', '---\npaths: {{{{[[[[\n'],
  ])('cannot exhaust the parser with a megabyte of %s', async (_, piece) => {
    const of = (length: number) =>
      `${piece.repeat(Math.ceil(length / piece.length)).slice(0, length)}\n\n@~/private.md`;
    const memory = await (
      await machine({
        'repo/CLAUDE.md': of(1_000_000),
        'repo/AGENTS.md': of(60_000),
        'repo/.claude/rules/r.md': `---\npaths: ${of(4_000)}\n---\n${of(4_000)}`,
      })
    ).load();
    expectHarmless(memory);
  });

  test('cannot exhaust the loader with deep directories', async () => {
    const poisoned = await machine({ 'repo/CLAUDE.md': 'top' });
    const deep = `repo${'/d'.repeat(200)}`;
    await mkdir(poisoned.at(`${deep}/.claude/rules${'/r'.repeat(100)}`), { recursive: true });
    await poisoned.add({
      [`${deep}/CLAUDE.md`]: 'deep',
      [`${deep}/.claude/rules/r/r/r/ok.md`]: 'found',
      [`${deep}/.claude/rules${'/r'.repeat(100)}/lost.md`]: 'lost',
    });
    const memory = await poisoned.load({ cwd: deep });
    expectHarmless(memory);
    expect(memory.files.map(({ text }) => text)).toEqual(['What the user wrote.', 'deep', 'found']);
    expect(memory.notices).toHaveLength(2);
  });

  test('cannot exceed the number of notices', async () => {
    const poisoned = await machine({
      'repo/CLAUDE.md': Array.from(
        { length: 500 },
        (_, index) => `@~/.ssh/${index}-${'k'.repeat(60)}`,
      ).join('\n\n'),
    });
    const memory = await poisoned.load();
    expectHarmless(memory);
    expect(memory.notices.at(-1)).toContain('450 more notices about memory files are left out');
  });
});
