/**
 * Plans the mounts of a sandbox.
 *
 * A read-only mount protects a path only as long as its parents stay in place, so every folder between a
 * writable root and a mount below it is mounted onto itself: a mount point cannot be renamed or removed.
 */
import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Placeholder, PlaceholderKind } from './placeholders.js';

type Access = 'hidden' | 'readOnly' | 'writable';

/** Symbolic link in a writable folder. A mount cannot hold a link in place. */
export interface GuardedLink {
  readonly path: string;
  readonly target: string;
}

/** Maximum links to follow, as in Linux. */
const MAX_LINKS = 40;

export class MountPlan {
  private readonly mounts = new Map<string, Access>();
  private readonly absent = new Map<string, Placeholder>();
  private readonly guarded = new Map<string, GuardedLink>();

  /** Adds a mount at the real path. A path that does not exist needs no mount. */
  mount(path: string, access: Access): void {
    const real = existingRealPath(path);
    if (real !== undefined) this.mounts.set(real, access);
  }

  /** Missing paths that must exist as mount points while the command runs. */
  get placeholders(): readonly Placeholder[] {
    return [...this.absent.values()];
  }

  get links(): readonly GuardedLink[] {
    return [...this.guarded.values()];
  }

  /** True if a command could write to the path, without regard to the rights of the user. */
  isWritable(path: string): boolean {
    return this.nearest(path) === 'writable';
  }

  /**
   * Keeps commands from changing the path or replacing a parent. A placeholder of this kind is planned for a
   * missing path, and an empty folder for a missing parent.
   */
  protect(path: string, kind: PlaceholderKind): void {
    const todo = namesOf(path);
    let reached = '/';
    let hops = MAX_LINKS;
    for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
      if (name === '..') {
        reached = dirname(reached);
        continue;
      }
      const next = join(reached, name);
      const stats = statOf(next);
      if (stats?.isSymbolicLink() === true) {
        const target = readlinkSync(next);
        if (this.isWritable(next)) this.guarded.set(next, { path: next, target });
        if (hops === 0) return;
        hops -= 1;
        if (isAbsolute(target)) reached = '/';
        todo.push(...namesOf(target));
        continue;
      }
      const isEnd = todo.length === 0 || stats?.isDirectory() !== true;
      if (isEnd) {
        this.close(next, stats, todo.length === 0 ? kind : 'folder');
        return;
      }
      reached = next;
    }
  }

  /**
   * Returns the arguments of bubblewrap: parents first, because a later mount covers an earlier mount below it.
   * `impossible` are the placeholders that no process can create.
   */
  arguments(impossible: ReadonlySet<string>): readonly string[] {
    for (const path of impossible) this.mounts.delete(path);
    for (const path of [...this.mounts.keys()]) this.pinParents(path);
    return [...this.mounts]
      .sort(([a], [b]) => a.length - b.length)
      .flatMap(([path, access]) => mountArguments(path, access));
  }

  private close(path: string, stats: Stats | undefined, kind: PlaceholderKind): void {
    if (!this.isWritable(path)) return;
    if (stats === undefined) this.absent.set(path, { path, kind });
    this.mounts.set(path, 'readOnly');
  }

  /** Mounts the folders between a mount and the writable mount above it onto themselves. */
  private pinParents(path: string): void {
    const parents: string[] = [];
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const access = this.mounts.get(folder);
      if (access === 'writable') break;
      if (access !== undefined || folder === dirname(folder)) return;
      parents.push(folder);
    }
    for (const folder of parents) this.mounts.set(folder, 'writable');
  }

  private nearest(path: string): Access | undefined {
    for (let folder = path; ; folder = dirname(folder)) {
      const access = this.mounts.get(folder);
      if (access !== undefined || folder === dirname(folder)) return access;
    }
  }
}

const mountArguments = (path: string, access: Access): readonly string[] => {
  if (access === 'writable') return ['--bind', path, path];
  if (access === 'readOnly') return ['--ro-bind', path, path];
  return statOf(path)?.isDirectory() === true
    ? ['--tmpfs', path]
    : ['--ro-bind', '/dev/null', path];
};

/** Returns the names of the path, the last name first. */
const namesOf = (path: string) =>
  path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .reverse();

/** Returns undefined if the path does not exist. */
export const existingRealPath = (path: string): string | undefined => {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
};

/** Returns undefined if there is no such file. Follows no link. */
export const statOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};
