/** Compares the manifest of a process that died with the present files. */
import { basename, dirname } from 'node:path';
import type { FileState } from '../../protocol/session/checkpoints.js';
import { isSameState } from './is-same-state.js';
import type { KeptState } from './manifest-entry.js';
import type { WorkspaceManifest } from './workspace-manifest.js';

/** A change whose content before may be in git only. */
export interface FoundChange {
  readonly path: string;
  readonly before: KeptState;
  readonly after: FileState;
}

/** `present` are the listed files and folders. `stateAt` keeps a file that is not listed. */
export const compareWithManifest = (
  stored: WorkspaceManifest,
  present: ReadonlyMap<string, KeptState>,
  stateAt: (path: string) => FileState,
): readonly FoundChange[] => {
  const changes: FoundChange[] = [];
  const changedRules = new Set<string>();
  for (const [path, before] of stored.files) {
    // A file that is not listed may still exist, because an ignore rule may hide it now.
    const after = present.get(path)?.state ?? stateAt(path);
    if (isSameState(before.state, after)) continue;
    changes.push({ path, before, after });
    if (basename(path) === '.gitignore') changedRules.add(dirname(path));
  }
  // Under changed ignore rules it is unknown which ignored files existed before.
  const mayBeOld = (path: string) =>
    stored.isCut || foldersAbove(path).some((folder) => changedRules.has(folder));
  for (const [path, { state: after }] of present) {
    if (stored.files.has(path) || mayBeOld(path)) continue;
    changes.push({ path, before: { state: { kind: 'absent' } }, after });
  }
  return changes;
};

const foldersAbove = (path: string): readonly string[] => {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
};
