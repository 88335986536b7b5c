/** Checkpoint blobs in packs, for tests. */
import fs from 'node:fs';
import { join } from 'node:path';
import { blobDigest } from '../../../../src/store/files/checkpoints/checkpoint-blobs.js';
import { openPack } from '../../../../src/store/files/checkpoints/open-pack.js';
import { temporaryFolder } from '../../session-folder.js';

export const newRoot = (): string => join(temporaryFolder(), 'checkpoints');

/** Writes the contents into a pack and returns its path, or undefined if no pack was written. */
export const packUp = (root: string, contents: readonly Uint8Array[]): string | undefined => {
  const before = new Set(packPaths(root));
  const pack = openPack(root);
  for (const bytes of contents) pack.add(blobDigest(bytes), bytes);
  pack.close();
  return packPaths(root).find((path) => !before.has(path));
};

/** Paths of the files in the folder of the packs. */
export const packPaths = (root: string): readonly string[] => {
  const folder = join(root, 'packs');
  return fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => join(folder, name)) : [];
};

/** Gives all files below the folder a date long ago. */
export const makeOld = (root: string): void => {
  for (const path of filesIn(root)) fs.utimesSync(path, 1, 1);
};

/** Paths of all files below the folder. */
export const filesIn = (root: string): readonly string[] =>
  fs.existsSync(root)
    ? fs
        .readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : [];

export const sizeOf = (root: string): number =>
  filesIn(root).reduce((sum, path) => sum + fs.statSync(path).size, 0);
