import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, lchown, mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memoryDisk } from '../../src/host/files/memory-disk.js';
import { MEMORY_LABELS, MEMORY_LAYERS, type MemoryDisk } from '../../src/protocol/tools/memory.js';
import { needs } from '../setup/needs.js';
import { diskOf, type Machine, machineWith, pathsOf } from './memory-tree.js';

const MONOREPO = {
  'etc/claude-code/CLAUDE.md': 'Log no credentials.',
  'etc/skein/CLAUDE.md': 'Ask before you publish.',
  'etc/skein/.claude/rules/audit.md': 'Keep the audit file.',
  'home/.claude/CLAUDE.md': 'Speak plainly.\n@~/notes/tone.md',
  'home/.claude/rules/b.md': 'User rule b.',
  'home/.claude/rules/a.md': 'User rule a.',
  'home/.skein/CLAUDE.md': 'Use few agents.',
  'home/notes/tone.md': 'No jokes.',
  'repo/.git/HEAD': 'ref: refs/heads/main\n',
  'repo/CLAUDE.md': 'Format with gofmt.',
  'repo/AGENTS.md': 'Run the tests.',
  'repo/.claude/CLAUDE.md': 'From the folder.',
  'repo/.skein/CLAUDE.md': 'Only for Skein.',
  'repo/.claude/rules/z.md': 'Rule z.',
  'repo/.claude/rules/deep/a.md': 'Rule deep a.',
  'repo/.claude/rules/api.md': '---\npaths: cmd/**\n---\nCommands are small.',
  'repo/.skein/rules/s.md': 'Rule s.',
  'repo/CLAUDE.local.md': 'Local of the top.',
  'repo/cmd/AGENTS.md': 'In between.',
  'repo/cmd/server/CLAUDE.md': 'This one is on Go 1.22.\n@./more.md and @Makefile',
  'repo/cmd/server/more.md': 'More of the server.',
  'repo/cmd/server/Makefile': 'all:\n\t@echo done',
  'repo/cmd/server/CLAUDE.local.md': 'Local of the server.',
  'repo/cmd/other/CLAUDE.md': 'Beside, so not read.',
  'shared/CLAUDE.md': 'An added directory.',
  'auto.md': 'Learned.',
  'team.md': 'Shared.',
};

const inServer = (machine: Machine) => ({
  cwd: 'repo/cmd/server',
  roots: [machine.at('shared')],
  autoMemory: machine.at('auto.md'),
  teamMemory: machine.at('team.md'),
});

describe('The memory of a monorepo', () => {
  test('is read layer by layer, from the root down, includes right after their includer', async () => {
    const machine = await machineWith(MONOREPO);
    const memory = await machine.load(inServer(machine));
    const golden = memory.files.map(({ layer, path, parent, text }) => {
      const by = parent === null ? '' : ` < ${relative(machine.root, parent)}`;
      return `${layer}: ${relative(machine.root, path)}${by}: ${text}`;
    });
    await expect(`${golden.join('\n---\n')}\n`).toMatchFileSnapshot('golden/monorepo.txt');
    expect(memory.rules.map(({ path, paths, base }) => ({ path, paths, base }))).toEqual([
      { path: machine.at('repo/.claude/rules/api.md'), paths: ['cmd'], base: machine.at('repo') },
    ]);
    expect(memory.notices).toEqual([]);
  });

  test('has the same bytes whatever order the disk lists its files in', async () => {
    const machine = await machineWith(MONOREPO);
    const disk = diskOf(machine.root);
    const upsideDown: MemoryDisk = {
      ...disk,
      list: async (real, most) => {
        const entries = await disk.list(real, most);
        return typeof entries === 'string' ? entries : entries.toReversed();
      },
    };
    const options = inServer(machine);
    const [one, other] = [
      await machine.load(options),
      await machine.load({ ...options, disk: upsideDown }),
    ];
    expect(one.files.length).toBeGreaterThan(15);
    expect(other).toEqual(one);
  });

  test('is sorted by code units, not by the words of a country', async () => {
    const machine = await machineWith({
      'repo/.claude/rules/ä.md': 'x',
      'repo/.claude/rules/b.md': 'x',
      'repo/.claude/rules/Z.md': 'x',
      'repo/.claude/rules/a.md': 'x',
      'repo/.claude/rules/a/c.md': 'x',
    });
    const names = pathsOf(machine, await machine.load()).map((path) =>
      path.slice('repo/.claude/rules/'.length),
    );
    expect(names).toEqual(['Z.md', 'a.md', 'a/c.md', 'b.md', 'ä.md']);
  });
});

describe('The label of a layer', () => {
  test('says whose words they are', () => {
    expect(MEMORY_LAYERS.map((layer) => `${layer}: ${MEMORY_LABELS[layer]}`)).toEqual([
      'managed: instructions of the administrator, for everybody on this machine',
      "user: the user's private instructions, for all projects",
      'project: instructions of the project, checked in with its code',
      "local: the user's private instructions for this project, not checked in",
      'auto: private notes from earlier sessions on this project',
      'team: notes that the team shares, kept in step for all its members',
    ]);
  });
});

describe('What is read', () => {
  test.each([
    [
      'everything',
      {},
      [
        'etc/skein/CLAUDE.md',
        'home/.claude/CLAUDE.md',
        'repo/CLAUDE.md',
        'shared/CLAUDE.md',
        'repo/CLAUDE.local.md',
      ],
    ],
    ['only added directories when bare', { isBare: true }, ['shared/CLAUDE.md']],
    ['nothing when bare with none added', { isBare: true, roots: [] }, []],
    ['nothing when disabled', { isDisabled: true }, []],
    ['nothing when disabled and bare', { isDisabled: true, isBare: true }, []],
  ])('is %s', async (_, options, expected) => {
    const machine = await machineWith({
      'etc/skein/CLAUDE.md': 'managed',
      'home/.claude/CLAUDE.md': 'user',
      'repo/CLAUDE.md': 'project',
      'repo/CLAUDE.local.md': 'local',
      'shared/CLAUDE.md': 'added',
      'auto.md': 'auto',
    });
    const flags = 'isBare' in options ? { autoMemory: machine.at('auto.md') } : {};
    const memory = await machine.load({ roots: [machine.at('shared')], ...flags, ...options });
    expect(pathsOf(machine, memory)).toEqual(expected);
  });

  test.each([
    [{}, []],
    [{ autoMemory: true }, ['auto']],
    [{ teamMemory: true }, ['team']],
    [{ autoMemory: true, teamMemory: true }, ['auto', 'team']],
  ])('includes notes of earlier sessions and of the team by flag: %o', async (flags, layers) => {
    const machine = await machineWith({ 'auto.md': 'a', 'team.md': 't' });
    const { files } = await machine.load({
      ...('autoMemory' in flags && { autoMemory: machine.at('auto.md') }),
      ...('teamMemory' in flags && { teamMemory: machine.at('team.md') }),
    });
    expect(files.map(({ layer }) => layer)).toEqual(layers);
  });

  test('of a team is not what a link in the workspace leads out to', async () => {
    const machine = await machineWith({
      'private/MEMORY.md': 'PRIVATE',
      'repo/.skein/team': { link: '~~/private' },
    });
    const memory = await machine.load({ teamMemory: machine.at('repo/.skein/team/MEMORY.md') });
    expect(memory.files).toEqual([]);
    expect(memory.notices).toEqual([expect.stringContaining('it leads out of the workspace')]);
  });

  test('is once what CLAUDE.md and AGENTS.md are both names of', async () => {
    const machine = await machineWith({
      'repo/AGENTS.md': 'Both.',
      'repo/CLAUDE.md': { link: 'AGENTS.md' },
    });
    expect(pathsOf(machine, await machine.load())).toEqual(['repo/CLAUDE.md']);
  });

  test('is once what CLAUDE.md includes of AGENTS.md', async () => {
    const machine = await machineWith({ 'repo/AGENTS.md': 'A.', 'repo/CLAUDE.md': '@AGENTS.md' });
    const { files } = await machine.load();
    expect(files.map(({ path, parent }) => [path, parent])).toEqual([
      [machine.at('repo/CLAUDE.md'), null],
      [machine.at('repo/AGENTS.md'), machine.at('repo/CLAUDE.md')],
    ]);
  });

  test('of the home is the user’s, and not a project’s besides', async () => {
    const machine = await machineWith({
      'home/.claude/CLAUDE.md': 'user',
      'home/.claude/rules/r.md': '---\npaths: x\n---\nrule',
      'home/CLAUDE.md': 'a project file',
      'home/work/CLAUDE.md': 'project',
    });
    const { files, rules } = await machine.load({ cwd: 'home/work' });
    expect(files.map(({ layer, text }) => [layer, text])).toEqual([
      ['user', 'user'],
      ['project', 'a project file'],
      ['project', 'project'],
    ]);
    expect(rules.map(({ layer, base }) => [layer, base])).toEqual([
      ['user', machine.at('home/work')],
    ]);
  });

  test('is found through a working directory that is itself a link', async () => {
    const machine = await machineWith({
      'data/proj/CLAUDE.md': 'real\n@./x.md',
      'data/proj/x.md': 'included',
      link: { link: '~~/data/proj' },
    });
    const { files, notices } = await machine.load({ cwd: 'link' });
    expect(files.map(({ text }) => text)).toEqual(['real\n@./x.md', 'included']);
    expect(notices).toEqual([]);
  });
});

describe('A directory of rules', () => {
  test('that leads back to itself is entered once, and that is no word worth', async () => {
    const machine = await machineWith({
      'repo/.claude/rules/a.md': 'a',
      'repo/.claude/rules/deeper/b.md': 'b',
      'repo/.claude/rules/deeper/up': { link: '..' },
      'repo/.claude/rules/self': { link: '.' },
    });
    const { files, notices } = await machine.load();
    expect(files.map(({ text }) => text)).toEqual(['a', 'b']);
    expect(notices).toEqual([]);
  });
});

describe('A file above the project', () => {
  const stranger = (machine: Machine, names: readonly string[]): MemoryDisk => {
    const disk = diskOf(machine.root);
    return {
      ...disk,
      user: 1_000,
      resolve: async (path) => {
        const place = await disk.resolve(path);
        const owner = names.includes(relative(machine.root, path)) ? 666 : 1_000;
        return place && { ...place, owners: [owner] };
      },
    };
  };

  test.each([
    ['above the repository', ['CLAUDE.md'], ['repo/CLAUDE.md', 'repo/sub/CLAUDE.md']],
    [
      'in the repository',
      ['repo/CLAUDE.md', 'repo/sub/CLAUDE.md'],
      ['CLAUDE.md', 'repo/CLAUDE.md', 'repo/sub/CLAUDE.md'],
    ],
    [
      'above a repository of a stranger',
      ['CLAUDE.md', 'repo/.git', 'repo/CLAUDE.md'],
      ['repo/sub/CLAUDE.md'],
    ],
  ])('of another user is left out if it lies %s', async (_, foreign, expected) => {
    const machine = await machineWith({
      'CLAUDE.md': 'top',
      'repo/.git/HEAD': 'x',
      'repo/CLAUDE.md': 'repo',
      'repo/sub/CLAUDE.md': 'sub',
    });
    const memory = await machine.load({ cwd: 'repo/sub', disk: stranger(machine, foreign) });
    expect(pathsOf(machine, memory)).toEqual(expected);
    const left = foreign.filter((path) => path.endsWith('.md') && !expected.includes(path));
    expect(memory.notices).toEqual(
      left.map((path) => expect.stringContaining(`${machine.at(path)} is not read: it is above`)),
    );
  });

  test('is told from ours by its real owner', async () => {
    const machine = await machineWith({
      'CLAUDE.md': 'planted',
      'repo/.git/HEAD': 'x',
      'repo/CLAUDE.md': 'ours',
    });
    // Only root can give a file away; anybody else can be somebody else.
    const us = process.getuid?.() ?? 0;
    if (us === 0) await chown(machine.at('CLAUDE.md'), 12_345, 12_345);
    const disk = { ...diskOf(machine.root), user: us === 0 ? us : us + 1 };
    expect(pathsOf(machine, await machine.load({ disk }))).toEqual(['repo/CLAUDE.md']);
  });
});

needs.describe('git')('A worktree', () => {
  const git = (cwd: string, ...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd,
      stdio: 'pipe',
    });

  const repository = async () => {
    const machine = await machineWith({
      'repo/CLAUDE.md': 'checked in',
      'repo/.claude/rules/r.md': 'rule, checked in',
      'repo/.gitignore': 'CLAUDE.local.md\ntrees\n',
      'repo/CLAUDE.local.md': 'mine',
      'CLAUDE.md': 'above all',
    });
    git(machine.at('repo'), 'init', '-q');
    git(machine.at('repo'), 'add', 'CLAUDE.md', '.claude', '.gitignore');
    git(machine.at('repo'), 'commit', '-qm', 'x');
    return machine;
  };

  test('inside its main repository is not told twice, but keeps what is not checked in', async () => {
    const machine = await repository();
    git(machine.at('repo'), 'worktree', 'add', '-q', 'trees/one');
    await mkdir(machine.at('repo/trees/one/deep'));
    expect(pathsOf(machine, await machine.load({ cwd: 'repo/trees/one/deep' }))).toEqual([
      'CLAUDE.md',
      'repo/trees/one/CLAUDE.md',
      'repo/trees/one/.claude/rules/r.md',
      'repo/CLAUDE.local.md',
    ]);
  });

  test('beside its main repository is like any directory', async () => {
    const machine = await repository();
    git(machine.at('repo'), 'worktree', 'add', '-q', machine.at('beside'));
    expect(pathsOf(machine, await machine.load({ cwd: 'beside' }))).toEqual([
      'CLAUDE.md',
      'beside/CLAUDE.md',
      'beside/.claude/rules/r.md',
    ]);
  });

  test('that only claims to be one hides nothing', async () => {
    const machine = await repository();
    git(machine.at('repo'), 'worktree', 'add', '-q', 'trees/one');
    await machine.add({
      'repo/trees/fake/.git': `gitdir: ${machine.at('repo/.git/worktrees/one')}\n`,
      'repo/trees/fake/AGENTS.md': 'fake',
    });
    expect(pathsOf(machine, await machine.load({ cwd: 'repo/trees/fake' }))).toContain(
      'repo/CLAUDE.md',
    );
  });
});

describe('The disk that memory is read from', () => {
  test('opens no link that took the place of a file', async () => {
    const machine = await machineWith({ secret: 'secret', link: { link: 'secret' } });
    expect(await memoryDisk().read(join(machine.root, 'link'), 100)).toBe('unreadable');
    expect(await memoryDisk().read(join(machine.root, 'secret'), 100)).toEqual(
      Buffer.from('secret'),
    );
    expect(await memoryDisk().read(join(machine.root, 'secret'), 5)).toBe('too-large');
  });

  test('believes no size: what says that it is empty may have no end', async () => {
    const [path] = ['/proc/self/maps'].filter((it) => existsSync(it));
    // Only Linux has such files; a size that is true is believed everywhere.
    const read = path === undefined ? 'too-large' : await memoryDisk().read(path, 100);
    expect(read).toBe('too-large');
  });

  test('waits at no pipe that took the place of a file', async () => {
    const machine = await machineWith({});
    execFileSync('mkfifo', [machine.at('pipe')]);
    expect(await memoryDisk().read(machine.at('pipe'), 100)).toBe('unreadable');
  });

  test('knows who laid a link as well as whose file it leads to', async () => {
    const machine = await machineWith({ link: { link: '/etc/passwd' } });
    const us = process.getuid?.() ?? 0;
    // Only root can give a link away; for anybody else the file is another user's.
    if (us === 0) await lchown(machine.at('link'), 12_345, 12_345);
    const place = await memoryDisk().resolve(machine.at('link'));
    expect(place?.owners.toSorted((a, b) => a - b)).toEqual([0, us === 0 ? 12_345 : us]);
  });

  test('lists all or nothing', async () => {
    const machine = await machineWith({ 'd/a': '', 'd/b': '', 'd/c/x': '' });
    expect(await memoryDisk().list(machine.at('d'), 2)).toBe('too-many');
    expect(await memoryDisk().list(machine.at('d'), 3)).toHaveLength(3);
    expect(await memoryDisk().list(machine.at('nowhere'), 3)).toBe('unreadable');
  });
});
