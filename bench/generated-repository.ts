/** Generates a workspace with many files, with or without git. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILES_PER_FOLDER = 50;
const FOLDERS_PER_FOLDER = 40;
const LINE = 'export const value = compute(1, 2); // "quoted"\n';
/** About 1 KB. */
const LINES = 20;

/** Creates `files` different files in nested folders. With git all of them are committed. */
export const generateRepository = (path: string, files: number, withGit: boolean): void => {
  for (let file = 0; file < files; file += 1) {
    const folder = Math.floor(file / FILES_PER_FOLDER);
    const parent = join(path, `part${Math.floor(folder / FOLDERS_PER_FOLDER)}`, `f${folder}`);
    if (file % FILES_PER_FOLDER === 0) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `m${file}.ts`), `// ${file}\n${LINE.repeat(LINES)}`);
  }
  if (!withGit) return;
  git(path, 'init', '-q', '-b', 'main');
  git(path, 'add', '.');
  git(path, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'Generated');
};

/** Returns the duration of a `git status` in ms. */
export const gitStatusTime = (path: string): number => {
  const began = performance.now();
  git(path, 'status', '--porcelain');
  return performance.now() - began;
};

const git = (cwd: string, ...args: readonly string[]): void => {
  execFileSync('git', ['-c', 'gc.auto=0', ...args], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
};
