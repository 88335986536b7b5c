/**
 * The layout of SKEIN_HOME, the folder for state that outlives a process.
 *
 * Only directories that Skein creates get mode 0700. An existing directory keeps its mode, because SKEIN_HOME
 * may be a folder that other users share.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../protocol/skein-error.js';
import type { ConfigEnvironment } from './config-environment.js';
import { statePaths } from './state-paths.js';

export interface StateLayout {
  readonly home: string;
  readonly settings: string;
  readonly trust: string;
  readonly history: string;
  readonly sessions: string;
  readonly checkpoints: string;
  readonly worktrees: string;
  readonly agents: string;
  readonly skills: string;
  readonly commands: string;
  /** Folder of the person's keys, which sign answers. */
  readonly keys: string;
  /** Placeholders of running sandboxes. */
  readonly sandbox: string;
}

/** Returns the path of SKEIN_HOME. Does not access the disk. */
export const resolveSkeinHome = ({ env, home, cwd }: ConfigEnvironment): string => {
  const configured = env.SKEIN_HOME;
  if (configured === undefined || configured === '') return join(home, '.skein');
  if (configured === '~' || configured.startsWith('~/')) return resolve(home, configured.slice(2));
  return resolve(cwd, configured);
};

export const stateLayout = (skeinHome: string): StateLayout => ({
  home: skeinHome,
  settings: join(skeinHome, 'settings.json'),
  trust: join(skeinHome, 'trust.json'),
  history: join(skeinHome, 'history'),
  sessions: join(skeinHome, 'sessions'),
  checkpoints: join(skeinHome, 'checkpoints'),
  worktrees: join(skeinHome, 'worktrees'),
  agents: join(skeinHome, 'agents'),
  skills: join(skeinHome, 'skills'),
  commands: join(skeinHome, 'commands'),
  keys: join(skeinHome, 'keys'),
  sandbox: join(skeinHome, 'sandbox'),
});

/**
 * Returns the folder for agents' worktrees, and the folders whose files never belong to a worktree.
 * `environment` is the environment of git.
 */
export const worktreeHome = (
  skeinHome: string,
  environment: Readonly<Record<string, string>>,
): {
  readonly folder: string;
  readonly excluded: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
} => ({
  folder: stateLayout(skeinHome).worktrees,
  excluded: statePaths(skeinHome),
  environment,
});

/** Creates missing folders. Throws UsageError if a folder cannot be created or written. */
export const openStateDirectory = (skeinHome: string): StateLayout => {
  const layout = stateLayout(skeinHome);
  for (const folder of [layout.home, layout.sessions, layout.checkpoints, layout.worktrees]) {
    openFolder(folder);
  }
  return layout;
};

const openFolder = (folder: string) => {
  try {
    makeFolder(folder);
    if (!statSync(folder).isDirectory()) throw new Error('it is not a directory');
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new UsageError(
      `Cannot store state in ${folder}: ${reasonText(cause)}. Make it writable, or set SKEIN_HOME to another folder.`,
      { cause },
    );
  }
};

/** Creates each folder separately, because Node's recursive mkdir never ends if a file system refuses new names. */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the folder in the meantime.
    if (!existsSync(folder)) throw error;
  }
};

const reasonText = (cause: unknown) => {
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  return REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
};

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EEXIST: 'a file has this name',
  ENOTDIR: 'a file has this name',
};
