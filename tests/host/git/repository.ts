/** Real repositories in temporary folders, created with the git of the machine. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { childEnvironment } from '../../../src/host/process/ownership/child-environment.js';

export interface Repository {
  /** Parent folder of the repository, for other files of the test. */
  readonly folder: string;
  readonly path: string;
  /** Returns the trimmed output. */
  git(...args: string[]): string;
  put(name: string, text: string): string;
  commit(subject: string): string;
}

export const temporaryFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skein-git-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const repository = (...init: string[]): Repository => {
  const folder = temporaryFolder();
  const path = join(folder, 'repo');
  execFileSync('git', ['init', '-q', '-b', 'main', ...init, path]);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: path, encoding: 'utf8', stdio: 'pipe' }).trim();
  const put = (name: string, text: string) => {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  return {
    folder,
    path,
    git,
    put,
    commit(subject) {
      git('commit', '-q', '--allow-empty', '-m', subject);
      return git('rev-parse', 'HEAD');
    },
  };
};

/** Writes a shell script. Returns its path. */
export const script = (path: string, ...lines: readonly string[]): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
};

export const environment = (more: Readonly<Record<string, string>> = {}): Record<string, string> =>
  childEnvironment({ ...process.env, ...more }, 'test', tmpdir());
