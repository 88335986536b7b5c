/**
 * Decides which paths may be read as memory files. Checks the path as named and the real path,
 * because a symbolic link in a repository can point anywhere.
 */

import { resolve } from 'node:path';
import { isPathInside } from '../lib/paths/is-path-inside.js';
import type {
  MemoryDisk,
  MemoryLayer,
  MemoryPorts,
  ResolvedMemoryPath,
} from '../protocol/tools/memory.js';
import { isTextName } from './is-text-name.js';
import { type MemoryNotices, printablePath } from './memory-notices.js';

export interface MemoryCandidate {
  readonly path: string;
  /** File that includes this path. Null for a file found in a memory location. */
  readonly parent: string | null;
  readonly layer: MemoryLayer;
  /** Folders that need no approval, each as named and as real path. */
  readonly allowedFolders: readonly string[];
  /** True if any user can write there, so the file must belong to the current user or root. */
  readonly isUnguarded: boolean;
}

export interface MemoryAdmissionOptions {
  readonly ports: MemoryPorts;
  readonly disk: MemoryDisk;
  readonly notices: MemoryNotices;
  /** State directory, as named and as real path. Not readable even if the workspace contains it. */
  readonly state: readonly string[];
}

/** Returns the absolute path of a folder, followed by its real path if that differs. */
export const namedAndReal = async (
  folder: string,
  disk: MemoryDisk,
): Promise<readonly string[]> => {
  const path = resolve(folder);
  const real = (await disk.resolve(path))?.real ?? path;
  return real === path ? [path] : [path, real];
};

const OUTSIDE = 'it leads out of the workspace and is not approved; see skein trust --includes';

export class MemoryAdmission {
  private readonly ports: MemoryPorts;
  private readonly disk: MemoryDisk;
  private readonly notices: MemoryNotices;
  private readonly state: readonly string[];

  constructor(options: MemoryAdmissionOptions) {
    this.ports = options.ports;
    this.disk = options.disk;
    this.notices = options.notices;
    this.state = options.state;
  }

  /** True if the path may be looked up on disk. Adds a notice if not. */
  mayLook(candidate: MemoryCandidate): boolean {
    return this.isHarmless(candidate, candidate.path);
  }

  /** True if the file may be read. Adds a notice if not. */
  mayRead(candidate: MemoryCandidate, resolved: ResolvedMemoryPath): boolean {
    if (resolved.kind === 'other') return this.refuse(candidate, 'it is not a regular file');
    return (
      this.mayLook(candidate) &&
      this.isHarmless(candidate, resolved.real) &&
      this.isGuarded(candidate, resolved) &&
      this.isAllowed(candidate, resolved) &&
      this.isText(candidate, resolved)
    );
  }

  /** True if the rules directory may be listed. Adds a notice if not. */
  mayEnter(candidate: MemoryCandidate, resolved: ResolvedMemoryPath): boolean {
    return (
      this.mayLook(candidate) &&
      this.isHarmless(candidate, resolved.real) &&
      this.isGuarded(candidate, resolved) &&
      this.isAllowed(candidate, resolved)
    );
  }

  private isHarmless(candidate: MemoryCandidate, path: string) {
    return !this.ports.isSensitive(path) || this.refuse(candidate, 'such files hold secrets');
  }

  private isGuarded(candidate: MemoryCandidate, { owners }: ResolvedMemoryPath) {
    const trustedOwners = [0, this.disk.user];
    const isGuarded =
      !candidate.isUnguarded || owners.every((owner) => trustedOwners.includes(owner));
    return (
      isGuarded || this.refuse(candidate, 'it is above the project and belongs to another user')
    );
  }

  /** True if the path needs no approval or is approved. Files of the user layer need no approval. */
  private isAllowed(candidate: MemoryCandidate, { real }: ResolvedMemoryPath) {
    const { path, parent, layer, allowedFolders } = candidate;
    if (layer === 'user') return true;
    const isWithin = (location: string) =>
      allowedFolders.some(
        (folder) => isPathInside({ path: location, folder }) && !this.isState(folder, location),
      );
    // The named path of a found file is a memory location, so only its real path is checked.
    if (isWithin(real) && (parent === null || isWithin(path))) return true;
    const outside = isWithin(real) ? path : real;
    return (
      this.ports.mayInclude({ path: outside, parent: parent ?? path }) ||
      this.refuse(candidate, OUTSIDE)
    );
  }

  private isState(folder: string, location: string) {
    return this.state.some(
      (state) =>
        isPathInside({ path: state, folder }) && isPathInside({ path: location, folder: state }),
    );
  }

  private isText(candidate: MemoryCandidate, { real }: ResolvedMemoryPath) {
    const isText = isTextName(candidate.path) && isTextName(real);
    return isText || this.refuse(candidate, 'it is not a text file by its name');
  }

  private refuse({ path, parent }: MemoryCandidate, why: string): false {
    const subject =
      parent === null
        ? printablePath(path)
        : `${printablePath(path)}, which ${printablePath(parent)} includes,`;
    this.notices.add(`${subject} is not read: ${why}.`);
    return false;
  }
}
