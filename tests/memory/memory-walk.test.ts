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

describe('the memory of a monorepo', () => {
  test('is read by layer, from the root down, each include after its includer', async () => {
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

  test('does not depend on the order of directory listings', async () => {
    const machine = await machineWith(MONOREPO);
    const disk = diskOf(machine.root);
    const reversed: MemoryDisk = {
      ...disk,
      list: async (real, limit) => {
        const entries = await disk.list(real, limit);
        return typeof entries === 'string' ? entries : entries.toReversed();
      },
    };
    const options = inServer(machine);
    const [normal, fromReversed] = [
      await machine.load(options),
      await machine.load({ ...options, disk: reversed }),
    ];
    expect(normal.files.length).toBeGreaterThan(15);
    expect(fromReversed).toEqual(normal);
  });

  test('is sorted by code units, independent of the locale', async () => {
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

describe('the label of a layer', () => {
  test('names the author and the scope of the instructions', () => {
    expect(MEMORY_LAYERS.map((layer) => `${layer}: ${MEMORY_LABELS[layer]}`)).toEqual([
      'managed: instructions of the administrator, for all users of this machine',
      "user: the user's private instructions, for all projects",
      'project: instructions of the project, checked in with its code',
      "local: the user's private instructions for this project, not checked in",
      'auto: private notes from earlier sessions on this project',
      'team: notes that the team shares, the same for all members',
    ]);
  });
});

describe('the set of memory files', () => {
  test.each([
    [
      'has every layer by default',
      {},
      [
        'etc/skein/CLAUDE.md',
        'home/.claude/CLAUDE.md',
        'repo/CLAUDE.md',
        'shared/CLAUDE.md',
        'repo/CLAUDE.local.md',
      ],
    ],
    ['has only added directories in bare mode', { isBare: true }, ['shared/CLAUDE.md']],
    ['is empty in bare mode without added directories', { isBare: true, roots: [] }, []],
    ['is empty if memory is disabled', { isDisabled: true }, []],
    ['is empty if memory is disabled in bare mode', { isDisabled: true, isBare: true }, []],
  ])('%s', async (_, options, expected) => {
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
  ])('includes automatic and team memory by flag: %o', async (flags, layers) => {
    const machine = await machineWith({ 'auto.md': 'a', 'team.md': 't' });
    const { files } = await machine.load({
      ...('autoMemory' in flags && { autoMemory: machine.at('auto.md') }),
      ...('teamMemory' in flags && { teamMemory: machine.at('team.md') }),
    });
    expect(files.map(({ layer }) => layer)).toEqual(layers);
  });

  test('excludes team memory behind a link that leaves the workspace', async () => {
    const machine = await machineWith({
      'private/MEMORY.md': 'PRIVATE',
      'repo/.skein/team': { link: '~~/private' },
    });
    const memory = await machine.load({ teamMemory: machine.at('repo/.skein/team/MEMORY.md') });
    expect(memory.files).toEqual([]);
    expect(memory.notices).toEqual([expect.stringContaining('it leads out of the workspace')]);
  });

  test('has a file once if CLAUDE.md is a link to AGENTS.md', async () => {
    const machine = await machineWith({
      'repo/AGENTS.md': 'Both.',
      'repo/CLAUDE.md': { link: 'AGENTS.md' },
    });
    expect(pathsOf(machine, await machine.load())).toEqual(['repo/CLAUDE.md']);
  });

  test('has AGENTS.md once if CLAUDE.md includes it', async () => {
    const machine = await machineWith({ 'repo/AGENTS.md': 'A.', 'repo/CLAUDE.md': '@AGENTS.md' });
    const { files } = await machine.load();
    expect(files.map(({ path, parent }) => [path, parent])).toEqual([
      [machine.at('repo/CLAUDE.md'), null],
      [machine.at('repo/AGENTS.md'), machine.at('repo/CLAUDE.md')],
    ]);
  });

  test('has a user file in the home only in the user layer', async () => {
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

  test('is found through a working directory that is a link', async () => {
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

describe('a rules folder', () => {
  test('with links to itself is read once, without a notice', async () => {
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

describe('a memory file above the project', () => {
  const foreignDisk = (machine: Machine, names: readonly string[]): MemoryDisk => {
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
      'above a repository of another user',
      ['CLAUDE.md', 'repo/.git', 'repo/CLAUDE.md'],
      ['repo/sub/CLAUDE.md'],
    ],
  ])('of another user is left out if it is %s', async (_, foreign, expected) => {
    const machine = await machineWith({
      'CLAUDE.md': 'top',
      'repo/.git/HEAD': 'x',
      'repo/CLAUDE.md': 'repo',
      'repo/sub/CLAUDE.md': 'sub',
    });
    const memory = await machine.load({ cwd: 'repo/sub', disk: foreignDisk(machine, foreign) });
    expect(pathsOf(machine, memory)).toEqual(expected);
    const skipped = foreign.filter((path) => path.endsWith('.md') && !expected.includes(path));
    expect(memory.notices).toEqual(
      skipped.map((path) =>
        expect.stringContaining(`${machine.at(path)} is not read: it is above`),
      ),
    );
  });

  test('is recognised as foreign by its real owner', async () => {
    const machine = await machineWith({
      'CLAUDE.md': 'planted',
      'repo/.git/HEAD': 'x',
      'repo/CLAUDE.md': 'ours',
    });
    // Only root can change the owner of a file; other users compare with another user id.
    const us = process.getuid?.() ?? 0;
    if (us === 0) await chown(machine.at('CLAUDE.md'), 12_345, 12_345);
    const disk = { ...diskOf(machine.root), user: us === 0 ? us : us + 1 };
    expect(pathsOf(machine, await machine.load({ disk }))).toEqual(['repo/CLAUDE.md']);
  });
});

needs.describe('git')('a worktree', () => {
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

  test('inside its main repository skips checked-in files of the repository and keeps local files', async () => {
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

  test('beside its main repository is read like any directory', async () => {
    const machine = await repository();
    git(machine.at('repo'), 'worktree', 'add', '-q', machine.at('beside'));
    expect(pathsOf(machine, await machine.load({ cwd: 'beside' }))).toEqual([
      'CLAUDE.md',
      'beside/CLAUDE.md',
      'beside/.claude/rules/r.md',
    ]);
  });

  test('with a fake .git file does not hide files of the repository', async () => {
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

describe('the memory disk', () => {
  test('does not follow a link at the path of a file', async () => {
    const machine = await machineWith({ secret: 'secret', link: { link: 'secret' } });
    expect(await memoryDisk().read(join(machine.root, 'link'), 100)).toBe('unreadable');
    expect(await memoryDisk().read(join(machine.root, 'secret'), 100)).toEqual(
      Buffer.from('secret'),
    );
    expect(await memoryDisk().read(join(machine.root, 'secret'), 5)).toBe('too-large');
  });

  test('limits the bytes read even if the file reports size zero', async () => {
    const [path] = ['/proc/self/maps'].filter((file) => existsSync(file));
    // Only Linux has such files.
    const read = path === undefined ? 'too-large' : await memoryDisk().read(path, 100);
    expect(read).toBe('too-large');
  });

  test('does not block on a named pipe', async () => {
    const machine = await machineWith({});
    execFileSync('mkfifo', [machine.at('pipe')]);
    expect(await memoryDisk().read(machine.at('pipe'), 100)).toBe('unreadable');
  });

  test('returns the owners of a link and of its target', async () => {
    const machine = await machineWith({ link: { link: '/etc/passwd' } });
    const us = process.getuid?.() ?? 0;
    // Only root can change the owner of a link; for other users /etc/passwd belongs to root.
    if (us === 0) await lchown(machine.at('link'), 12_345, 12_345);
    const place = await memoryDisk().resolve(machine.at('link'));
    expect(place?.owners.toSorted((a, b) => a - b)).toEqual([0, us === 0 ? 12_345 : us]);
  });

  test('returns no entries if the limit is exceeded', async () => {
    const machine = await machineWith({ 'd/a': '', 'd/b': '', 'd/c/x': '' });
    expect(await memoryDisk().list(machine.at('d'), 2)).toBe('too-many');
    expect(await memoryDisk().list(machine.at('d'), 3)).toHaveLength(3);
    expect(await memoryDisk().list(machine.at('nowhere'), 3)).toBe('unreadable');
  });
});
