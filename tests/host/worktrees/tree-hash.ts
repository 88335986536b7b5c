/** Text of a directory: names, kinds, modes and contents. Reads the disk without code of Skein. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';

/** Returns a line per entry, so that differences are readable. Omits `.git`. */
export const treeOf = (root: string): readonly string[] => entries(root, '');

const entries = (root: string, below: string): readonly string[] =>
  fs
    .readdirSync(join(root, below))
    .sort()
    .filter((name) => name !== '.git')
    .flatMap((name) => {
      const path = join(below, name);
      const found = fs.lstatSync(join(root, path));
      const mode = (found.mode & 0o7777).toString(8);
      if (found.isSymbolicLink()) return [`${path} → ${fs.readlinkSync(join(root, path))}`];
      if (found.isDirectory()) return [`${path}/ ${mode}`, ...entries(root, path)];
      if (!found.isFile()) return [`${path} special`];
      const digest = createHash('sha256')
        .update(fs.readFileSync(join(root, path)))
        .digest('hex');
      return [`${path} ${mode} ${digest}`];
    });
