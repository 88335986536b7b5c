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

describe('Includes', () => {
  test('go four files deep, and what is deeper is said', async () => {
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

  test('of exactly that depth are no word worth', async () => {
    const machine = await machineWith(chainOf(5));
    const { files, notices } = await machine.load();
    expect([files.length, notices]).toEqual([5, []]);
  });

  test('that go round are read once', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': 'a @b.md @./CLAUDE.md',
      'repo/b.md': 'b @c.md @CLAUDE.md',
      'repo/c.md': 'c @b.md @./././b.md @../repo/b.md',
    });
    const memory = await machine.load();
    expect(pathsOf(machine, memory)).toEqual(['repo/CLAUDE.md', 'repo/b.md', 'repo/c.md']);
    expect(memory.notices).toEqual([]);
  });

  test('through links are the file that they lead to', async () => {
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

  test('of what is not there, or is a directory, are silent', async () => {
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
  ])('of %s: %s', async (name, isRead) => {
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

  test('of a link are judged by the name that it leads to as well', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': '@notes.md',
      'repo/notes.md': { link: 'picture.png' },
      'repo/picture.png': 'words',
    });
    const { files, notices } = await machine.load();
    expect([files.length, notices.length]).toEqual([1, 1]);
    expect(notices[0]).toContain('it is not a text file by its name');
  });

  test('of many long files are searched up to a bound of all together, and that is said', async () => {
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

  test('of a program are not searched for includes in their turn', async () => {
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

  test('end, and no file comes twice, however they point at one another', async () => {
    const pointer = fc.tuple(fc.nat(5), fc.nat(5));
    await fc.assert(
      fc.asyncProperty(fc.array(pointer, { maxLength: 12 }), async (pointers) => {
        const lines = (from: number) =>
          pointers.filter(([one]) => one === from).map(([, to]) => `@${to}.md`);
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

describe('An include that leads out of the workspace', () => {
  const AROUND = {
    'home/tone.md': 'tone',
    'outside.md': 'outside',
    'repo2/x.md': 'like ours',
    'etc/skein/x.md': 'not ours',
  };

  test.each([
    ['a file of the project', 'repo/CLAUDE.md', '@../outside.md', ['repo/CLAUDE.md']],
    [
      'a private file of the project',
      'repo/CLAUDE.local.md',
      '@../outside.md',
      ['repo/CLAUDE.local.md'],
    ],
    [
      'a rule of the project',
      'repo/.claude/rules/r.md',
      '@../../../outside.md',
      ['repo/.claude/rules/r.md'],
    ],
    ['the home, from a project', 'repo/CLAUDE.md', '@~/tone.md', ['repo/CLAUDE.md']],
    ['a neighbour of a like name', 'repo/CLAUDE.md', '@../repo2/x.md', ['repo/CLAUDE.md']],
    ['a project, of the administrator', 'repo/CLAUDE.md', '@../etc/skein/x.md', ['repo/CLAUDE.md']],
    ['the administrator', 'etc/skein/CLAUDE.md', '@../../outside.md', ['etc/skein/CLAUDE.md']],
  ])('is refused to %s until somebody agrees', async (_, path, text, expected) => {
    const machine = await machineWith({ ...AROUND, [path]: text });
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

  test('is free to users, and to administrators beside their own file', async () => {
    const machine = await machineWith({
      ...AROUND,
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

  test('is one also if it lies in the repository but above the working directory', async () => {
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

  test('is known by where a link really leads', async () => {
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

  test('is one also if it is named outside and leads back in', async () => {
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

  test('is every link in the place of a memory file that leaves the repository', async () => {
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

  test('is one into the state directory even if the workspace lies around it', async () => {
    const machine = await machineWith({
      'home/CLAUDE.md': '@.skein/sessions/x.jsonl @work/y.md',
      'home/.skein/sessions/x.jsonl': 'SESSION',
      'home/work/y.md': 'y',
    });
    const loaded = await machine.load({ cwd: 'home' });
    expect(pathsOf(machine, loaded)).toEqual(['home/CLAUDE.md', 'home/work/y.md']);
  });
});

describe('A sensitive path', () => {
  test.each([
    ['managed', 'etc/skein/CLAUDE.md'],
    ['user', 'home/.claude/CLAUDE.md'],
    ['project', 'repo/CLAUDE.md'],
    ['rule', 'repo/.claude/rules/r.md'],
    ['local', 'repo/CLAUDE.local.md'],
  ])('is never read for a file of the layer %s, even if somebody agrees', async (_, path) => {
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

describe('A memory file', () => {
  test.each([
    [40_000, false],
    [40_001, true],
  ])('of %i characters is whole, and large: %s', async (length, isLarge) => {
    const machine = await machineWith({ 'repo/CLAUDE.md': 'x'.repeat(length) });
    const { files, notices } = await machine.load();
    expect(files).toMatchObject([{ isLarge }]);
    expect(files[0]?.text).toHaveLength(length);
    expect(notices).toEqual([]);
  });

  test('loses its mark of byte order and the returns of its lines, and keeps broken bytes visible', async () => {
    const bytes = Buffer.concat([
      Buffer.from('\ufeffa\r\nb\rc'),
      Buffer.from([0xff, 0xc3]),
      Buffer.from('d'),
    ]);
    const machine = await machineWith({ 'repo/CLAUDE.md': bytes });
    expect(textOf(await machine.load())).toBe('a\nb\nc\ufffd\ufffdd');
  });

  test.each([
    ['of zeros', Buffer.from('a\0b')],
    ['in UTF-16', Buffer.from('\ufeffwords', 'utf16le')],
  ])('%s is left out, and that is said', async (_, bytes) => {
    const machine = await machineWith({ 'repo/CLAUDE.md': bytes });
    const { files, notices } = await machine.load();
    expect([files, notices]).toEqual([[], [expect.stringContaining('not text in UTF-8')]]);
  });

  test('without a word is none', async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': ' \n\n',
      'repo/AGENTS.md': '<!-- nothing -->\n',
      'repo/CLAUDE.local.md': '---\na: 1\n---\n',
    });
    expect(await machine.load()).toEqual({ files: [], rules: [], notices: [] });
  });
});
