import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { machineWith, pathsOf, textOf } from './memory-tree.js';

const chainOf = (length: number) =>
  Object.fromEntries(
    Array.from({ length }, (_, index) => [
      index === 0 ? 'repo/CLAUDE.md' : `repo/${index}.md`,
      `File ${index}.\n@${index + 1}.md`,
    ]),
  );

describe('includes', () => {
  test('are read four levels deep, with a notice about deeper includes', async () => {
    const machine = await machineWith(chainOf(6));
    const memory = await machine.load();
    expect(pathsOf(machine, memory)).toEqual([
      'repo/CLAUDE.md',
      'repo/1.md',
      'repo/2.md',
      'repo/3.md',
      'repo/4.md',
    ]);
    expect(memory.notices).toEqual([
      `${machine.at('repo/5.md')}, which ${machine.at('repo/4.md')} includes, is not read: includes go 4 files deep.`,
    ]);
  });

  test('at the maximum depth cause no notice', async () => {
    const machine = await machineWith(chainOf(5));
    const { files, notices } = await machine.load();
    expect([files.length, notices]).toEqual([5, []]);
  });

  test('in a cycle are read once', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': 'a @b.md @./CLAUDE.md',
      'repo/b.md': 'b @c.md @CLAUDE.md',
      'repo/c.md': 'c @b.md @./././b.md @../repo/b.md',
    });
    const memory = await machine.load();
    expect(pathsOf(machine, memory)).toEqual(['repo/CLAUDE.md', 'repo/b.md', 'repo/c.md']);
    expect(memory.notices).toEqual([]);
  });

  test('through several links to a file are read once', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': '@one.md @two.md @round.md @folder/x.md @again/x.md',
      'repo/real.md': 'real',
      'repo/one.md': { link: 'real.md' },
      'repo/two.md': { link: '~~/repo/one.md' },
      'repo/round.md': { link: 'round.md' },
      'repo/folder/x.md': 'x',
      'repo/again': { link: 'folder' },
      'repo/folder/up': { link: '..' },
    });
    expect(pathsOf(machine, await machine.load())).toEqual([
      'repo/CLAUDE.md',
      'repo/one.md',
      'repo/folder/x.md',
    ]);
  });

  test('of missing files and directories cause no notice', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md':
        'Ask @ann, or @docs, @nowhere/x.md, @CLAUDE.md/x, @types/node, @/no/such/file or ann@example.org.',
      'repo/docs/x.md': 'x',
    });
    const memory = machine.memory();
    const { files, notices } = await memory.load();
    expect([files.length, notices, memory.asked]).toEqual([1, [], []]);
  });

  test.each([
    ['Makefile', true],
    ['LICENSE', true],
    ['api.ts', true],
    ['schema.graphql', true],
    ['x.PROTO', true],
    ['.gitignore', true],
    ['x.vue', true],
    ['picture.png', false],
    ['book.pdf', false],
    ['all.zip', false],
    ['x.exe', false],
    ['x.md.bin', false],
  ])('of %s are read: %s', async (name, isRead) => {
    const machine = await machineWith({
      'repo/CLAUDE.md': `@./${name}`,
      [`repo/${name}`]: 'words',
    });
    const { files, notices } = await machine.load();
    const refusals = notices.filter((notice) =>
      notice.includes('it is not a text file by its name'),
    );
    expect([files.length, notices.length, refusals.length]).toEqual(isRead ? [2, 0, 0] : [1, 1, 1]);
  });

  test('of a link must have a text file name at the target of the link too', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': '@notes.md',
      'repo/notes.md': { link: 'picture.png' },
      'repo/picture.png': 'words',
    });
    const { files, notices } = await machine.load();
    expect([files.length, notices.length]).toEqual([1, 1]);
    expect(notices[0]).toContain('it is not a text file by its name');
  });

  test('in many long files are searched up to a total limit, with a notice', async () => {
    const long = (name: string) => `@${name}\n\n${'word '.repeat(12_000)}\n`;
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `repo/.claude/rules/${name}.md`);
    const machine = await machineWith({
      ...Object.fromEntries(names.map((name) => [name, long('more.md')])),
      'repo/.claude/rules/more.md': 'more',
    });
    const { files, notices } = await machine.load();
    expect(files).toHaveLength(6);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(/e\.md is too long or too deeply nested/);
  });

  test('in a source file are not searched', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': '@a.ts @Makefile @b.txt',
      'repo/a.ts': '@Component class A {} // @c.md <!-- kept -->',
      'repo/Makefile': 'all:\n\t@./c.md',
      'repo/b.txt': '@d.md',
      'repo/c.md': 'c',
      'repo/d.md': 'd',
    });
    const memory = await machine.load();
    expect(pathsOf(machine, memory)).toEqual([
      'repo/CLAUDE.md',
      'repo/a.ts',
      'repo/Makefile',
      'repo/b.txt',
      'repo/d.md',
    ]);
    expect(textOf(memory)).toContain('<!-- kept -->');
  });

  test('end and contain no file twice for any graph of includes', async () => {
    const pointer = fc.tuple(fc.nat(5), fc.nat(5));
    await fc.assert(
      fc.asyncProperty(fc.array(pointer, { maxLength: 12 }), async (pointers) => {
        const lines = (from: number) =>
          pointers.filter(([source]) => source === from).map(([, to]) => `@${to}.md`);
        const machine = await machineWith({
          'repo/CLAUDE.md': '@0.md',
          ...Object.fromEntries(
            Array.from({ length: 6 }, (_, index) => [
              `repo/${index}.md`,
              `x ${lines(index).join(' ')}`,
            ]),
          ),
        });
        const paths = pathsOf(machine, await machine.load());
        expect(new Set(paths).size).toBe(paths.length);
        expect(paths.slice(0, 2)).toEqual(['repo/CLAUDE.md', 'repo/0.md']);
      }),
      { numRuns: 20 },
    );
  });
});

describe('an include outside the workspace', () => {
  const OTHER_FILES = {
    'home/tone.md': 'tone',
    'outside.md': 'outside',
    'repo2/x.md': 'like ours',
    'etc/skein/x.md': 'not ours',
  };

  test.each([
    ['a project file', 'repo/CLAUDE.md', '@../outside.md', ['repo/CLAUDE.md']],
    ['a private project file', 'repo/CLAUDE.local.md', '@../outside.md', ['repo/CLAUDE.local.md']],
    [
      'a project rule',
      'repo/.claude/rules/r.md',
      '@../../../outside.md',
      ['repo/.claude/rules/r.md'],
    ],
    ['a project file that names the home', 'repo/CLAUDE.md', '@~/tone.md', ['repo/CLAUDE.md']],
    [
      'a project file that names a folder with a similar name',
      'repo/CLAUDE.md',
      '@../repo2/x.md',
      ['repo/CLAUDE.md'],
    ],
    [
      'a project file that names the managed folder',
      'repo/CLAUDE.md',
      '@../etc/skein/x.md',
      ['repo/CLAUDE.md'],
    ],
    ['a managed file', 'etc/skein/CLAUDE.md', '@../../outside.md', ['etc/skein/CLAUDE.md']],
  ])('is not read from %s until the user approves', async (_, path, text, expected) => {
    const machine = await machineWith({ ...OTHER_FILES, [path]: text });
    const refused = machine.memory();
    const memory = await refused.load();
    expect(pathsOf(machine, memory)).toEqual(expected);
    expect(memory.notices).toEqual([expect.stringContaining('is not approved')]);
    expect(memory.notices[0]).toContain(machine.at(path));
    expect(refused.asked).toHaveLength(1);

    const agreed = machine.memory({ mayInclude: (include) => include.parent === machine.at(path) });
    expect((await agreed.load()).files).toHaveLength(2);
    expect(agreed.asked).toEqual(refused.asked);
  });

  test('needs no approval in a user file, nor in a managed file for its own folder', async () => {
    const machine = await machineWith({
      ...OTHER_FILES,
      'etc/skein/CLAUDE.md': '@./policy.md',
      'etc/skein/policy.md': 'policy',
      'home/.claude/CLAUDE.md': '@~/tone.md',
      'shared/CLAUDE.md': '@x.md',
      'shared/x.md': 'of the added directory',
    });
    const memory = machine.memory({ roots: [machine.at('shared')] });
    expect(pathsOf(machine, await memory.load())).toEqual([
      'etc/skein/CLAUDE.md',
      'etc/skein/policy.md',
      'home/.claude/CLAUDE.md',
      'home/tone.md',
      'shared/CLAUDE.md',
      'shared/x.md',
    ]);
    expect(memory.asked).toEqual([]);
  });

  test('needs approval if the file is in the repository but above the working directory', async () => {
    const machine = await machineWith({
      'repo/.git/HEAD': 'x',
      'repo/docs/x.md': 'x',
      'repo/sub/CLAUDE.md': '@../docs/x.md',
    });
    const memory = machine.memory({ cwd: 'repo/sub' });
    await memory.load();
    expect(memory.asked).toEqual([
      { path: machine.at('repo/docs/x.md'), parent: machine.at('repo/sub/CLAUDE.md') },
    ]);
  });

  test('is detected by the real path of a link', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': '@in.md @folder/x.md',
      'repo/in.md': { link: '~~/outside.md' },
      'repo/folder': { link: '~~/away' },
      'away/x.md': 'AWAY',
      'outside.md': 'OUTSIDE',
    });
    const memory = machine.memory();
    const loaded = await memory.load();
    expect(pathsOf(machine, loaded)).toEqual(['repo/CLAUDE.md']);
    expect(memory.asked.map(({ path }) => path)).toEqual([
      machine.at('outside.md'),
      machine.at('away/x.md'),
    ]);
    expect(JSON.stringify(loaded)).not.toMatch(/AWAY|OUTSIDE/);
  });

  test('needs approval if its path is outside and links back into the workspace', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': '@../back.md',
      'repo/x.md': 'x',
      'back.md': { link: 'repo/x.md' },
    });
    const memory = machine.memory();
    expect(pathsOf(machine, await memory.load())).toEqual(['repo/CLAUDE.md']);
    expect(memory.asked).toEqual([
      { path: machine.at('back.md'), parent: machine.at('repo/CLAUDE.md') },
    ]);
  });

  test('may be a link at the path of a memory file that leaves the repository', async () => {
    const machine = await machineWith({
      'repo/.git/HEAD': 'x',
      'repo/AGENTS.md': 'in the repository',
      'repo/sub/CLAUDE.md': { link: '../AGENTS.md' },
      'repo/sub/AGENTS.md': { link: '~~/outside.md' },
      'repo/sub/.claude/rules': { link: '~~/rules' },
      'rules/r.md': 'RULE',
      'outside.md': 'OUTSIDE',
    });
    const memory = machine.memory({ cwd: 'repo/sub' });
    const loaded = await memory.load();
    expect(pathsOf(machine, loaded)).toEqual(['repo/AGENTS.md']);
    expect(memory.asked).toEqual([
      { path: machine.at('outside.md'), parent: machine.at('repo/sub/AGENTS.md') },
      { path: machine.at('rules'), parent: machine.at('repo/sub/.claude/rules') },
    ]);
    const agreed = await machine.load({ cwd: 'repo/sub', mayInclude: () => true });
    expect(pathsOf(machine, agreed)).toEqual([
      'repo/AGENTS.md',
      'repo/sub/AGENTS.md',
      'repo/sub/.claude/rules/r.md',
    ]);
  });

  test('is an include of the state directory even if the workspace contains it', async () => {
    const machine = await machineWith({
      'home/CLAUDE.md': '@.skein/sessions/x.jsonl @work/y.md',
      'home/.skein/sessions/x.jsonl': 'SESSION',
      'home/work/y.md': 'y',
    });
    const loaded = await machine.load({ cwd: 'home' });
    expect(pathsOf(machine, loaded)).toEqual(['home/CLAUDE.md', 'home/work/y.md']);
  });
});

describe('a sensitive path', () => {
  test.each([
    ['managed', 'etc/skein/CLAUDE.md'],
    ['user', 'home/.claude/CLAUDE.md'],
    ['project', 'repo/CLAUDE.md'],
    ['rule', 'repo/.claude/rules/r.md'],
    ['local', 'repo/CLAUDE.local.md'],
  ])('is never read for the layer %s, even with approval', async (_, path) => {
    const machine = await machineWith({
      [path]: 'x @~/.ssh/id_rsa @~/link.md @~/.env',
      'home/.ssh/id_rsa': 'SECRET',
      'home/.env': 'SECRET',
      'home/link.md': { link: '.ssh/id_rsa' },
    });
    const memory = await machine.load({ mayInclude: () => true });
    expect(pathsOf(machine, memory)).toEqual([path]);
    expect(memory.notices).toHaveLength(3);
    expect(JSON.stringify(memory)).not.toContain('SECRET');
  });
});

describe('a memory file', () => {
  test.each([
    [40_000, false],
    [40_001, true],
  ])('with %i characters is loaded completely and is large: %s', async (length, isLarge) => {
    const machine = await machineWith({ 'repo/CLAUDE.md': 'x'.repeat(length) });
    const { files, notices } = await machine.load();
    expect(files).toMatchObject([{ isLarge }]);
    expect(files[0]?.text).toHaveLength(length);
    expect(notices).toEqual([]);
  });

  test('is read without byte order mark and carriage returns, and shows invalid bytes', async () => {
    const bytes = Buffer.concat([
      Buffer.from('\ufeffa\r\nb\rc'),
      Buffer.from([0xff, 0xc3]),
      Buffer.from('d'),
    ]);
    const machine = await machineWith({ 'repo/CLAUDE.md': bytes });
    expect(textOf(await machine.load())).toBe('a\nb\nc\ufffd\ufffdd');
  });

  test.each([
    ['with NUL bytes', Buffer.from('a\0b')],
    ['in UTF-16', Buffer.from('\ufeffwords', 'utf16le')],
  ])('%s is left out with a notice', async (_, bytes) => {
    const machine = await machineWith({ 'repo/CLAUDE.md': bytes });
    const { files, notices } = await machine.load();
    expect([files, notices]).toEqual([[], [expect.stringContaining('not text in UTF-8')]]);
  });

  test('without text is left out', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': ' \n\n',
      'repo/AGENTS.md': '<!-- nothing -->\n',
      'repo/CLAUDE.local.md': '---\na: 1\n---\n',
    });
    expect(await machine.load()).toEqual({ files: [], rules: [], notices: [] });
  });
});
