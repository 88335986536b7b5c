/** Temporary folders of a benchmark run: a workspace, a home, settings with rules, a copy of the bundle. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Arena {
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  readonly skeinHome: string;
  /** Copy of the command from the start of the run, so that a later build has no effect. */
  readonly skein: string;
  close(): void;
}

/** Number of files: one for each turn of the longest loop. */
const FILES = 500;
/** Lines of a file, about 2 KB, so that 500 turns make a history of more than a megabyte. */
const LINES = 40;

/** Rules of every kind, so that each call is matched against several rules. */
const SETTINGS = {
  permissions: {
    allow: ['Read', 'Bash(npm test:*)', 'Bash(git diff:*)', 'Edit(src/**)'],
    ask: ['Bash(git push:*)'],
    deny: ['Read(secrets/**)', 'Read(**/*.pem)', 'Bash(curl:*)'],
  },
};

export const openArena = (bundle: string): Arena => {
  const root = mkdtempSync(join(benchFolder(), 'run-'));
  const pathOf = (name: string) => join(root, name);
  const arena = {
    root,
    workspace: pathOf('workspace'),
    home: pathOf('home'),
    skeinHome: pathOf('skein-home'),
    skein: pathOf('dist/skein.cjs'),
    close: () => rmSync(root, { recursive: true, force: true }),
  };
  for (const path of [arena.workspace, arena.home, arena.skeinHome]) mkdirSync(path);
  cpSync(bundle, pathOf('dist'), { recursive: true });
  writeFileSync(join(arena.skeinHome, 'settings.json'), JSON.stringify(SETTINGS));
  for (let file = 0; file < FILES; file += 1) {
    writeFileSync(join(arena.workspace, `f${file}.txt`), textOf(file));
  }
  return arena;
};

/**
 * Creates the folder of all arenas. On ext4, a new file is slow while many files were deleted in the last
 * minutes: a third of a millisecond each after a previous run. With the attribute `T` each folder in it gets
 * its own part of the disk. Other file systems ignore the attribute.
 */
const benchFolder = (): string => {
  const path = join(tmpdir(), 'skein-bench');
  mkdirSync(path, { recursive: true });
  spawnSync('chattr', ['+T', path], { stdio: 'ignore' });
  return path;
};

const textOf = (file: number): string =>
  Array.from(
    { length: LINES },
    (_, line) => `const value${line} = compute(${file}, ${line}); // "quoted"\n`,
  ).join('');
