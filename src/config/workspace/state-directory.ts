/**
 * SKEIN_HOME: where Skein keeps what outlives a process, and the names of what is in it.
 *
 * Only directories made here get mode 0700. One that exists keeps its mode: SKEIN_HOME may point
 * at a folder that others use too, and closing it would be a surprise.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import type { ConfigEnvironment } from './config-environment.js';

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
  /** The person's, for answers. */
  readonly keys: string;
}

/** The path of the state directory; touches nothing. */
export const resolveSkeinHome = ({ env, home, cwd }: ConfigEnvironment): string => {
  const given = env.SKEIN_HOME;
  if (given === undefined || given === '') return join(home, '.skein');
  if (given === '~' || given.startsWith('~/')) return resolve(home, given.slice(2));
  return resolve(cwd, given);
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
});

/** Makes what is missing. Throws a UsageError when the state cannot be kept there. */
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
      `Cannot keep state in ${folder}: ${why(cause)}. Make it writable, or set SKEIN_HOME to another folder.`,
      { cause },
    );
  }
};

/** Step by step: Node's own recursion does not end in a file system that refuses new names. */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Several processes may begin at once.
    if (!existsSync(folder)) throw error;
  }
};

const why = (cause: unknown) => {
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  return TROUBLE[code] ?? (cause instanceof Error ? cause.message : String(cause));
};

const TROUBLE: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EEXIST: 'a file is in the way',
  ENOTDIR: 'a file is in the way',
};
