import { mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realPath } from '../../../src/config/workspace/real-path.js';
import {
  openStateDirectory,
  resolveSkeinHome,
  stateLayout,
} from '../../../src/config/workspace/state-layout.js';
import { findWorkspace } from '../../../src/config/workspace/workspace-folders.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { temporaryFolder } from '../temporary-folder.js';

describe('the state directory', () => {
  test.each([
    [undefined, '/home/ada/.skein'],
    ['', '/home/ada/.skein'],
    ['/var/skein', '/var/skein'],
    ['~/state', '/home/ada/state'],
    ['~', '/home/ada'],
    ['state', '/repo/state'],
  ])('with SKEIN_HOME=%s is %s', (given, expected) => {
    const env = given === undefined ? {} : { SKEIN_HOME: given };
    expect(resolveSkeinHome({ env, home: '/home/ada', cwd: '/repo' })).toBe(expected);
  });

  test('has a fixed layout', () => {
    expect(stateLayout('/s')).toEqual({
      home: '/s',
      settings: '/s/settings.json',
      trust: '/s/trust.json',
      history: '/s/history',
      sessions: '/s/sessions',
      checkpoints: '/s/checkpoints',
      worktrees: '/s/worktrees',
      keys: '/s/keys',
      sandbox: '/s/sandbox',
      agents: '/s/agents',
      skills: '/s/skills',
      commands: '/s/commands',
    });
  });

  test('is readable only for the user, and can be opened again', () => {
    const { path } = temporaryFolder();
    const layout = openStateDirectory(join(path, 'deep/state'));
    for (const folder of [layout.home, layout.sessions, layout.checkpoints, layout.worktrees]) {
      expect(statSync(folder).mode & 0o777).toBe(0o700);
    }
    expect(openStateDirectory(layout.home)).toEqual(layout);
  });

  test('is rejected with a message if it cannot be created', () => {
    const { path, put } = temporaryFolder();
    put('file', 'in the way');
    for (const place of [join(path, 'file'), join(path, 'file/below')]) {
      expect(() => openStateDirectory(place)).toThrow(UsageError);
      expect(() => openStateDirectory(place)).toThrow('set SKEIN_HOME to another folder');
    }
  });
});

describe('the workspace', () => {
  test('reads settings from its folder and from the repository root', () => {
    const { home, repo } = temporaryFolder();
    const below = join(repo, 'packages/a');
    mkdirSync(below, { recursive: true });
    mkdirSync(join(repo, '.git'));
    expect(findWorkspace(below, home)).toEqual({ root: below, folders: [below] });
    mkdirSync(join(repo, '.claude'));
    mkdirSync(join(repo, 'packages/.claude'));
    expect(findWorkspace(below, home)).toEqual({ root: below, folders: [repo, below] });
    expect(findWorkspace(repo, home).folders).toEqual([repo]);
  });

  test('is never the home folder, which has the settings of the user', () => {
    const { home } = temporaryFolder();
    mkdirSync(join(home, '.git'));
    mkdirSync(join(home, '.claude'));
    mkdirSync(join(home, 'a'));
    expect(findWorkspace(home, home).folders).toEqual([]);
    expect(findWorkspace(join(home, 'a'), home).folders).toEqual([join(home, 'a')]);
  });

  test('must exist', () => {
    const { repo, home } = temporaryFolder();
    expect(() => findWorkspace(join(repo, 'missing'), home)).toThrow(UsageError);
  });
});

test('a real path resolves links as far as possible and never throws', () => {
  const { path, repo } = temporaryFolder();
  symlinkSync(repo, join(path, 'link'));
  symlinkSync(join(path, 'loop'), join(path, 'loop'));
  expect(realPath(join(path, 'link/new/file'))).toBe(join(repo, 'new/file'));
  symlinkSync('../elsewhere/file', join(repo, 'dangling'));
  expect(realPath(join(path, 'link/dangling'))).toBe(join(path, 'elsewhere/file'));
  expect(realPath(join(path, 'loop/a'))).toBe(join(path, 'loop/a'));
  expect(realPath(join(path, 'link/../x'))).toBe(join(path, 'x'));
});
