/** A throw-away place to measure in: a workspace, a home, settings with rules, a copy of the bundle. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Arena {
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  readonly skeinHome: string;
  /** The command as it was when the run began: a build meanwhile changes nothing. */
  readonly skein: string;
  close(): void;
}

/** As many as the longest loop has turns; each is read once. */
const FILES = 500;
/** About 2 KB each, so that 500 turns make a history of more than a megabyte. */
const LINES = 40;

/** Rules of every kind, so that each call is held against some. */
const SETTINGS = {
  permissions: {
    allow: ['Read', 'Bash(npm test:*)', 'Bash(git diff:*)', 'Edit(src/**)'],
    ask: ['Bash(git push:*)'],
    deny: ['Read(secrets/**)', 'Read(**/*.pem)', 'Bash(curl:*)'],
  },
};

export const openArena = (bundle: string): Arena => {
  const root = mkdtempSync(join(yard(), 'run-'));
  const place = (name: string) => join(root, name);
  const arena = {
    root,
    workspace: place('workspace'),
    home: place('home'),
    skeinHome: place('skein-home'),
    skein: place('dist/skein.js'),
    close: () => rmSync(root, { recursive: true, force: true }),
  };
  for (const path of [arena.workspace, arena.home, arena.skeinHome]) mkdirSync(path);
  cpSync(bundle, place('dist'), { recursive: true });
  writeFileSync(join(arena.skeinHome, 'settings.json'), JSON.stringify(SETTINGS));
  for (let file = 0; file < FILES; file += 1) {
    writeFileSync(join(arena.workspace, `f${file}.txt`), textOf(file));
  }
  return arena;
};

/**
 * The folder that arenas are made in. When files are created, ext4 passes over all that were deleted in the
 * last minutes, one by one: with the thousands of the run before, each new file took a third of a
 * millisecond. With this attribute each folder in it gets a part of the disk of its own. Elsewhere it means nothing.
 */
const yard = (): string => {
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
