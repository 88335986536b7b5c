/**
 * Protects the files of a folder that could run commands outside of the sandbox later: settings, hooks, MCP servers,
 * agent definitions and the configuration of git. Missing files are protected too.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { MountPlan } from './mount-plan.js';

/** Folders and files of Skein, of Claude Code and of hook managers. */
export const CONTROL_NAMES: readonly string[] = ['.claude', '.skein', '.husky', '.mcp.json'];

/** Maximum number of submodules whose git directories stay writable. With more, all of them are read-only. */
const MAX_MODULES = 32;
const MAX_MODULE_FOLDERS = 256;
const MAX_LINK_BYTES = 8_192;

/** Protects all control files of a writable folder, existing or not. */
export const protectFolder = (plan: MountPlan, folder: string): void => {
  // An empty folder takes the place of a missing file, because git adds no empty folder to a commit.
  for (const name of CONTROL_NAMES) plan.protect(join(folder, name), 'folder');
  protectRepository(plan, folder);
};

/** Protects the configuration of the repository in a folder, and keeps commands from creating one if there is none. */
export const protectRepository = (plan: MountPlan, folder: string): void => {
  const dotGit = join(folder, '.git');
  if (isDirectory(dotGit)) protectGitDirectory(plan, dotGit);
  else plan.protect(dotGit, 'folder');
  if (isBare(folder)) protectGitDirectory(plan, folder);
  const linked = linkedGitDirectory(dotGit);
  if (linked !== undefined) protectLinked(plan, linked);
};

const protectGitDirectory = (plan: MountPlan, directory: string): void => {
  plan.protect(join(directory, 'config'), 'file');
  plan.protect(join(directory, 'config.worktree'), 'file');
  plan.protect(join(directory, 'commondir'), 'commondir');
  plan.protect(join(directory, 'info/attributes'), 'file');
  plan.protect(join(directory, 'hooks'), 'folder');
  // Read-only as a whole: Skein adds worktrees for agents while commands run.
  plan.protect(join(directory, 'worktrees'), 'folder');
  const modules = submodules(join(directory, 'modules'));
  if (modules === undefined) plan.protect(join(directory, 'modules'), 'folder');
  for (const module of modules ?? []) protectGitDirectory(plan, module);
};

/** Protects the git directory behind a `.git` file: of a linked worktree, of a submodule or apart from its tree. */
const protectLinked = (plan: MountPlan, directory: string): void => {
  const common = commonDirectory(directory);
  if (common === undefined) {
    protectGitDirectory(plan, directory);
    return;
  }
  const isOpen = plan.isWritable(common);
  protectGitDirectory(plan, common);
  if (!isOpen) return;
  // Commits in the worktree write its index and its HEAD.
  plan.mount(directory, 'writable');
  for (const name of ['commondir', 'gitdir', 'config.worktree']) {
    plan.protect(join(directory, name), 'file');
  }
};

/** Returns the git directories of submodules, or undefined if there are too many. */
const submodules = (folder: string): readonly string[] | undefined => {
  const found: string[] = [];
  const todo = [folder];
  for (let visited = 0; todo.length > 0; visited += 1) {
    const next = todo.pop() ?? '';
    const isModule = next !== folder && existsSync(join(next, 'HEAD'));
    if (isModule) found.push(next);
    else todo.push(...foldersIn(next));
    if (visited >= MAX_MODULE_FOLDERS || found.length > MAX_MODULES) return undefined;
  }
  return found;
};

const foldersIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
};

/** Returns the directory that a `.git` file names, undefined for other files. */
export const linkedGitDirectory = (dotGit: string): string | undefined => {
  const link = /^gitdir: ([^\n]+)\n?$/.exec(smallFile(dotGit) ?? '')?.[1];
  const directory = link === undefined ? undefined : resolve(dirname(dotGit), link);
  return directory !== undefined && isDirectory(directory) ? directory : undefined;
};

const commonDirectory = (directory: string): string | undefined => {
  const text = smallFile(join(directory, 'commondir'))?.trim();
  return text === undefined || text === '.' ? undefined : resolve(directory, text);
};

/** True for a folder that git takes for a repository without a `.git`. */
export const isBare = (folder: string): boolean =>
  existsSync(join(folder, 'HEAD')) &&
  isDirectory(join(folder, 'objects')) &&
  isDirectory(join(folder, 'refs'));

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
};

const smallFile = (path: string): string | undefined => {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= MAX_LINK_BYTES ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
};
