/**
 * Which paths may be read for their words. A path is judged as it is named and as it really is:
 * a link in a repository leads wherever its author wished.
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
import { type Notices, printablePath } from './notices.js';

export interface MemoryCandidate {
  readonly path: string;
  /** The file that includes it; null for one that was found. */
  readonly parent: string | null;
  readonly layer: MemoryLayer;
  /** Folders that it may lie in without anybody's leave, named and real. */
  readonly allowedFolders: readonly string[];
  /** Anybody may have put it there, so it must belong to us or to the administrator. */
  readonly isUnguarded: boolean;
}

export interface MemoryAdmissionOptions {
  readonly ports: MemoryPorts;
  readonly disk: MemoryDisk;
  readonly notices: Notices;
  /** The state directory, by name and really: a workspace around it does not open it. */
  readonly state: readonly string[];
}

/** A folder by its name and by its real path. */
export const namedAndReal = async (
  folder: string,
  disk: MemoryDisk,
): Promise<readonly string[]> => {
  const path = resolve(folder);
  const real = (await disk.resolve(path))?.real ?? path;
  return real === path ? [path] : [path, real];
};

/** The command that says more stands in the sentence itself. */
const OUTSIDE =
  'it leads out of the workspace, and nobody has agreed to that; skein trust --includes tells how';

export class MemoryAdmission {
  private readonly ports: MemoryPorts;
  private readonly disk: MemoryDisk;
  private readonly notices: Notices;
  private readonly state: readonly string[];

  constructor(options: MemoryAdmissionOptions) {
    this.ports = options.ports;
    this.disk = options.disk;
    this.notices = options.notices;
    this.state = options.state;
  }

  /** Before the disk is asked. */
  mayLook(candidate: MemoryCandidate): boolean {
    return this.isHarmless(candidate, candidate.path);
  }

  /** Before it is read. Refusals are said. */
  mayRead(candidate: MemoryCandidate, place: ResolvedMemoryPath): boolean {
    if (place.kind === 'other') return this.refuse(candidate, 'it is no regular file');
    return (
      this.mayLook(candidate) &&
      this.isHarmless(candidate, place.real) &&
      this.isGuarded(candidate, place) &&
      this.isAllowed(candidate, place) &&
      this.isText(candidate, place)
    );
  }

  /** Before a directory of rules is listed. */
  mayEnter(candidate: MemoryCandidate, place: ResolvedMemoryPath): boolean {
    return (
      this.mayLook(candidate) &&
      this.isHarmless(candidate, place.real) &&
      this.isGuarded(candidate, place) &&
      this.isAllowed(candidate, place)
    );
  }

  private isHarmless(candidate: MemoryCandidate, path: string) {
    return !this.ports.isSensitive(path) || this.refuse(candidate, 'such files hold secrets');
  }

  private isGuarded(candidate: MemoryCandidate, { owners }: ResolvedMemoryPath) {
    const ours = [0, this.disk.user];
    const isGuarded = !candidate.isUnguarded || owners.every((owner) => ours.includes(owner));
    return isGuarded || this.refuse(candidate, 'it lies above the project and is of another user');
  }

  /** What users include, and where their links lead, is their own affair. */
  private isAllowed(candidate: MemoryCandidate, { real }: ResolvedMemoryPath) {
    const { path, parent, layer, allowedFolders: folders } = candidate;
    if (layer === 'user') return true;
    const isWithin = (place: string) =>
      folders.some(
        (folder) => isPathInside({ path: place, folder }) && !this.isState(folder, place),
      );
    // Where a found file is named is where it was looked for.
    if (isWithin(real) && (parent === null || isWithin(path))) return true;
    const outside = isWithin(real) ? path : real;
    return (
      this.ports.mayInclude({ path: outside, parent: parent ?? path }) ||
      this.refuse(candidate, OUTSIDE)
    );
  }

  private isState(folder: string, place: string) {
    return this.state.some(
      (state) =>
        isPathInside({ path: state, folder }) && isPathInside({ path: place, folder: state }),
    );
  }

  private isText(candidate: MemoryCandidate, { real }: ResolvedMemoryPath) {
    const isText = isTextName(candidate.path) && isTextName(real);
    return isText || this.refuse(candidate, 'its name is not that of a text');
  }

  private refuse({ path, parent }: MemoryCandidate, why: string): false {
    const what =
      parent === null
        ? printablePath(path)
        : `${printablePath(path)}, which ${printablePath(parent)} includes,`;
    this.notices.add(`${what} is not read: ${why}.`);
    return false;
  }
}
