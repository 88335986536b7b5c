/**
 * Escapes from a real sandbox: every way to change a control file, for every control file. After the attempts the
 * person runs `git status` outside; no planted program may run and no control file may differ.
 */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { needs } from '../../setup/needs.js';
import { type SandboxedFolder, sandboxedFolder } from './sandboxed-folder.js';

/** Copied into the workspace, because a sandbox may hide the folder of this repository. */
const ATTACK = readFileSync(new URL('attack.mjs', import.meta.url), 'utf8');

/** Control files of the workspace below, existing and missing. */
const TARGETS = [
  '.git/config',
  '.git/config.worktree',
  '.git/commondir',
  '.git/info/attributes',
  '.git/hooks/post-index-change',
  '.git/modules/lib/config',
  '.git/modules/lib/config.worktree',
  '.git/modules/lib/commondir',
  '.git/modules/lib/hooks/post-index-change',
  '.git/worktrees/side/commondir',
  '.git/worktrees/side/gitdir',
  '.git/worktrees/side/config.worktree',
  '.git/worktrees/other/commondir',
  'lib/.git',
  'trees/side/.git',
  'inner/repo/.git/config',
  'inner/repo/.git/commondir',
  'inner/repo/.git/hooks/post-index-change',
  'packages/a/.claude/settings.json',
  '.githooks/post-index-change',
  'shared.gitconfig',
  'tools/clean.sh',
  'strip.js',
  'late/clean.sh',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/hooks/a.sh',
  '.claude/agents/a.md',
  '.claude/commands/a.md',
  '.claude/skills/a/SKILL.md',
  '.claude/plugins/a.json',
  '.skein/settings.json',
  '.skein/hooks/a.sh',
  '.skein/agents/a.md',
  '.mcp.json',
  '.husky/pre-commit',
] as const;

/** Repository with a submodule, a linked worktree, a nested repository, and hooks and settings in the tree. */
const setUp = (): SandboxedFolder => {
  const folder = sandboxedFolder();
  const { at, git, write } = folder;
  git('repo', 'init', '-q', '--template=', '-b', 'main');
  write('repo/a.txt', 'a\n');
  write('repo/tools/clean.sh', '#!/bin/sh\ncat\n', 0o755);
  write('repo/strip.js', '');
  write('repo/shared.gitconfig', '[alias]\n\tst = status\n');
  write('repo/.githooks/pre-commit', '#!/bin/sh\n', 0o755);
  write('repo/.gitattributes', 'never.txt filter=clean\n');
  write('repo/.claude/settings.json', '{}');
  write('repo/packages/a/.claude/settings.json', '{}');
  write('source/b.txt', 'b\n');
  git('source', 'init', '-q', '--template=', '-b', 'main');
  git('source', 'add', '.');
  git('source', 'commit', '-qm', 'b');
  git(
    'repo',
    '-c',
    'protocol.file.allow=always',
    'submodule',
    '--quiet',
    'add',
    at('source'),
    'lib',
  );
  git('repo', 'add', '.');
  git('repo', 'commit', '-qm', 'a');
  git('repo', 'worktree', 'add', '-q', 'trees/side');
  git('repo', 'clone', '-q', at('source'), 'inner/repo');
  git('repo', 'config', 'core.hooksPath', '.githooks');
  git('repo', 'config', 'include.path', '../shared.gitconfig');
  git('repo', 'config', 'filter.clean.clean', './tools/clean.sh %f');
  git('repo', 'config', 'filter.strip.clean', 'node strip.js');
  git('repo', 'config', 'filter.late.clean', 'sh late/clean.sh %f');
  return folder;
};

/** Shell commands that write a payload for each kind of control file, and a repository to point to. */
const payloads = ({ at }: SandboxedFolder, root = 'repo') => `
  mkdir -p scratch/p planted
  printf '#!/bin/sh\\ntouch ${at(`ran.${root}`)}\\ncat\\n' > scratch/p/program; chmod +x scratch/p/program
  printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = ${at(root)}/scratch/p/program\\n\\thooksPath = ${at(root)}/planted/hooks\\n' > scratch/p/config
  cp -r .git/. planted/ 2>/dev/null; cp -f scratch/p/config planted/config; rm -rf planted/commondir planted/worktrees planted/hooks
  mkdir planted/hooks; cp scratch/p/program planted/hooks/post-index-change
  echo ${at(root)}/planted > scratch/p/commondir
  echo gitdir: ${at(root)}/planted > scratch/p/link
  printf '{"hooks":{}}' > scratch/p/settings
`;

const payloadFor = (target: string): string => {
  if (/config(?:\.worktree)?$/.test(target)) return 'config';
  if (/(?:commondir|gitdir)$/.test(target)) return 'commondir';
  if (target.endsWith('/.git')) return 'link';
  return /\.(?:json|md)$/.test(target) ? 'settings' : 'program';
};

const RENAMEAT2 = { x64: 316, arm64: 276 }[process.arch as string] ?? 0;

/** Ways that need a program: mounts and an exchange of two files. T is the target, A its first parent, P the payload. */
const BY_PROGRAM: readonly string[] = [
  'umount -l T; umount -l A; mount -o remount,rw,bind T; mount -o remount,rw,bind A; cp -f P T',
  'unshare -Urm sh -c "umount -l T; umount -l A; mount -o remount,rw,bind T; cp -f P T"',
  'mkdir N; unshare -Urm sh -c "mount --bind $PWD N; cp -f P N/T"',
  'mkdir N; unshare -Urm sh -c "mount --rbind $PWD N; umount -l N/T; umount -l N/A; cp -f P N/T"',
  'cp P N; perl -e "syscall(NUMBER, -100, qq(N), -100, qq(T), 2)"',
  'cp -r A N; perl -e "syscall(NUMBER, -100, qq(N), -100, qq(A), 2)"; cp -f P T',
];

/** One target for each kind of mount. */
const TARGETS_OF_PROGRAMS = ['.git/config', '.git/commondir', 'lib/.git', '.skein/settings.json'];

const byProgram = TARGETS_OF_PROGRAMS.flatMap((target, row) =>
  BY_PROGRAM.map((way, column) =>
    way
      .replaceAll(/\bNUMBER\b/g, String(RENAMEAT2))
      .replaceAll(/\bT\b/g, target)
      .replaceAll(/\bA\b/g, target.split('/')[0] ?? '')
      .replaceAll(/\bP\b/g, `scratch/p/${payloadFor(target)}`)
      .replaceAll(/\bN\b/g, `scratch/n${row}-${column}`),
  ),
);

needs.describe('bwrap', 'git')('a command in the sandbox that attacks control files', () => {
  test('changes no control file in any way, and git status runs none of its programs', async () => {
    const folder = setUp();
    const before = folder.listing('repo');
    await folder.run(payloads(folder));
    const pairs = TARGETS.flatMap((target) => [target, payloadFor(target)]).join(' ');
    folder.write('repo/scratch/attack.mjs', ATTACK);
    const attack = `${process.execPath} scratch/attack.mjs scratch/p ${pairs}`;
    const { output } = await folder.run(attack);
    expect(output).toMatch(/^\d{3,} attempts\n$/);
    await folder.run(byProgram.map((way) => `( ${way} ) 2>/dev/null`).join('\n'));
    expect(folder.planted()).toEqual([]);
    const after = folder.listing('repo');
    for (const name of Object.keys(after)) {
      if (/^repo\/(?:planted|\.[A-Z]|[A-Z])/.test(name)) delete after[name];
    }
    expect(after).toEqual(before);
  }, 60_000);
});

/** Returns workspaces with a repository that has a commit. */
const simple = (names: readonly string[] = ['repo']): SandboxedFolder => {
  const folder = sandboxedFolder(names);
  for (const name of names) {
    folder.git(name, 'init', '-q', '-b', 'main');
    folder.git(name, 'commit', '-q', '--allow-empty', '-m', 'a');
  }
  return folder;
};

const NESTED = `git init -q sub; git -C sub -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x;`;
const IN_CONFIG = `git -C sub config core.fsmonitor $PWD/scratch/p/program;`;
const BARE = `mkdir objects refs; echo ref: refs/heads/main > HEAD; cp scratch/p/config config; git config --file config core.worktree $PWD;`;

const slug = (title: string) => title.replaceAll(/\W+/g, '-');

/** Chains of commands that end in the person's `git status`. Each one has a repository of its own. */
const CHAINS: Record<string, string> = {
  'copies .git over itself': 'mv .git g; cp -r g .git; cp -f scratch/p/config .git/config',
  'removes .git and creates it':
    'rm -rf .git; cp -r planted .git; cp -f scratch/p/config .git/config',
  'replaces .git with a file': 'mv .git g || rm -rf .git; cp scratch/p/link .git',
  'replaces .git with a link': 'mv .git g || rm -rf .git; ln -s planted .git',
  'points commondir to a copy': 'cp scratch/p/commondir .git/commondir',
  'asks git to change the configuration':
    'git config core.fsmonitor $PWD/scratch/p/program; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $PWD/scratch/p/program',
  'asks git to initialise again':
    'git init --separate-git-dir=$PWD/planted; git init --template=$PWD/planted',
  'adds a nested repository with a monitor': `${NESTED} ${IN_CONFIG} git add sub`,
  'adds a nested repository with a hook': `${NESTED} mkdir -p sub/.git/hooks; cp scratch/p/program sub/.git/hooks/post-index-change; git add sub`,
  'adds a nested repository with commondir': `${NESTED} cp scratch/p/commondir sub/.git/commondir; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`,
  'adds a nested repository with an include': `${NESTED} git -C sub config include.path $PWD/scratch/p/config; git add sub`,
  'adds a nested repository by a link file': `mkdir sub; cp scratch/p/link sub/.git; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`,
  'adds a nested repository by a symbolic link': `mkdir sub; ln -s ../planted sub/.git; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`,
  'adds a nested repository with a split index': `${NESTED} ${IN_CONFIG} git update-index --split-index; git add sub`,
  'adds a nested repository and commits it': `${NESTED} ${IN_CONFIG} git add sub; git -c user.name=a -c user.email=a@b.c commit -qm sub`,
  'damages HEAD and makes the workspace a repository': `rm .git/HEAD; ${BARE}`,
  'damages objects and makes the workspace a repository': `mv .git/objects o; ${BARE}`,
  'makes the workspace a repository with commondir': `rm .git/HEAD; ${BARE} cp -r planted/objects planted/refs .; git config --file planted/config core.worktree $PWD; cp scratch/p/commondir commondir`,
  'adds a worktree and redirects it':
    'git worktree add -q wt; cp scratch/p/commondir .git/worktrees/wt/commondir; cp scratch/p/link wt/.git',
};

needs.describe('bwrap', 'git')('a command in the sandbox that', () => {
  test('makes any of these changes runs nothing at the next git status', async () => {
    const chains = Object.entries(CHAINS).map(([title, chain]) => [slug(title), chain] as const);
    const folder = simple(chains.map(([name]) => name));
    const each = (scriptOf: (chain: string, name: string) => string) =>
      chains
        .map(([name, chain]) => `( cd ${folder.at(name)}\n${scriptOf(chain, name)}\n)`)
        .join('\n');
    await folder.run(each((chain, name) => `${payloads(folder, name)}\n${chain}`));
    expect(folder.planted()).toEqual([]);
    // The next command finds the results and goes on from them.
    await folder.run(each((chain) => `${chain}\n[ -d sub/.git ] && ${IN_CONFIG} git add sub`));
    expect(folder.planted()).toEqual([]);
  }, 60_000);

  test('adds a nested repository without programs keeps it, and cannot give it programs later', async () => {
    const folder = simple();
    const { output } = await folder.run(
      `${payloads(folder)}\n${NESTED} git add -f sub 2>/dev/null`,
    );
    expect(output).toBe('');
    expect(folder.git('repo', 'ls-files', '--stage', 'sub')).toContain('160000');
    await folder.run(
      `${IN_CONFIG} cp scratch/p/program sub/.git/hooks/post-index-change; mv sub/.git g; cp -r g sub/.git; ${IN_CONFIG}`,
    );
    expect(folder.planted()).toEqual([]);
  }, 30_000);

  test('fills the folder of a submodule that is not checked out runs nothing', async () => {
    const folder = simple();
    const head = folder.git('repo', 'rev-parse', 'HEAD').trim();
    for (const name of ['empty', 'gone/sub']) {
      folder.git('repo', 'update-index', '--add', '--cacheinfo', `160000,${head},${name}`);
    }
    folder.write('repo/empty/.keep', '');
    await folder.run(
      `${payloads(folder)}\nfor f in empty gone/sub; do mkdir -p $f; cp -r planted $f/.git; cp scratch/p/link $f/.git; mv $f $f.old; mkdir -p $f; cp -r planted $f/.git; done`,
    );
    expect(folder.planted()).toEqual([]);
    expect(existsSync(folder.at('repo/gone'))).toBe(false);
  }, 30_000);

  test('replaces links to settings and hooks leaves them as they were', async () => {
    const folder = simple();
    folder.write('repo/tools/claude/settings.json', '{}');
    folder.write('outside/hooks/pre-commit', '');
    symlinkSync('tools/claude', folder.at('repo/.claude'));
    symlinkSync('../outside', folder.at('repo/.husky'));
    symlinkSync('tools/nothing', folder.at('repo/.skein'));
    const { output } = await folder.run(
      'for f in .claude .husky .skein; do rm -f $f; mkdir $f; echo evil > $f/settings.json; done; echo evil > tools/claude/settings.json; mkdir tools/nothing; echo evil > tools/nothing/settings.json',
    );
    expect(output.match(/The sandbox restored the link/g)).toHaveLength(3);
    expect(folder.listing('repo')).toMatchObject({
      'repo/.claude': 'link to tools/claude',
      'repo/.husky': 'link to ../outside',
      'repo/.skein': 'link to tools/nothing',
      'repo/tools/claude/settings.json': expect.stringContaining('{}'),
    });
    expect(existsSync(folder.at('repo/tools/nothing'))).toBe(false);
  }, 30_000);

  test('renames a folder above the workspace replaces nothing', async () => {
    const folder = sandboxedFolder(['outer/mid/repo', 'outer']);
    folder.write('outer/mid/repo/.claude/settings.json', '{}');
    await folder.run(
      'mv mid mid2; mkdir -p mid/repo/.claude; echo evil > mid/repo/.claude/settings.json; mv mid/repo mid/r2',
      'outer',
    );
    expect(folder.listing('outer')).toEqual({
      'outer/mid': 'folder',
      'outer/mid/repo': 'folder',
      'outer/mid/repo/.claude': 'folder',
      'outer/mid/repo/.claude/settings.json': expect.stringContaining('{}'),
    });
  }, 30_000);

  test('works in a folder without a repository can make neither a repository nor settings', async () => {
    const folder = sandboxedFolder(['plain', 'added']);
    for (const name of ['plain', 'added']) {
      await folder.run(
        `${payloads(folder, name)}\n git init -q; cp -r planted .git; cp scratch/p/link .git; ${BARE} mkdir -p .skein/hooks .claude; echo evil > .mcp.json`,
        name,
      );
    }
    expect(folder.planted()).toEqual([]);
    for (const name of ['.git', '.skein', '.claude', '.mcp.json', '.husky', 'HEAD']) {
      expect([name, existsSync(folder.at(`plain/${name}`))]).toEqual([name, false]);
      expect([name, existsSync(folder.at(`added/${name}`))]).toEqual([name, false]);
    }
  }, 30_000);

  test('writes the start files of shells and git is refused if the home folder is its workspace', async () => {
    const folder = sandboxedFolder(['home']);
    folder.write('home/.bashrc', 'mine');
    await folder.run(
      'echo evil > .bashrc; mv .bashrc b; echo evil > .profile; echo evil > .gitconfig; mkdir -p .config/fish .config/git; echo evil > .config/fish/config.fish; echo evil > .config/git/config; mkdir -p .ssh .config/autostart; echo evil > .ssh/authorized_keys; echo evil > .ssh/config; echo evil > .config/autostart/a.desktop; echo evil > .bash_aliases',
    );
    expect(folder.listing('home')).toEqual({ 'home/.bashrc': expect.stringContaining('mine') });
  }, 30_000);
});
