/** Finds the second names of folders that bind mounts give them. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isPathInside } from './is-path-inside.js';

interface Mount {
  /** Number of the file system. */
  readonly device: string;
  /** Folder of the file system that is mounted. */
  readonly root: string;
  readonly point: string;
}

/**
 * Returns the paths below the folders `within` that show a target, or a part of a target, through a mount of its
 * own. All paths must be real paths. Returns an empty list on systems without `/proc`.
 */
export const mountAliases = (
  targets: readonly string[],
  within: readonly string[],
): readonly string[] => {
  const mounts = readMounts();
  const below = mounts.filter(({ point }) =>
    within.some((folder) => isPathInside({ path: point, folder })),
  );
  if (below.length === 0) return [];
  const aliases = targets.flatMap((target) => {
    const place = placeOf(target, mounts);
    return below
      .filter(({ device }) => device === place?.device)
      .flatMap(({ root, point }) => {
        const path = place?.path ?? '';
        if (isPathInside({ path: root, folder: path })) return [point];
        return isPathInside({ path, folder: root }) ? [join(point, relative(root, path))] : [];
      })
      .filter((alias) => !isPathInside({ path: alias, folder: target }));
  });
  return [...new Set(aliases)];
};

/** Returns the file system of a path, and the path in that file system. */
const placeOf = (path: string, mounts: readonly Mount[]) => {
  const [mount] = mounts
    .filter(({ point }) => isPathInside({ path, folder: point }))
    // A later mount covers an earlier mount at the same point.
    .reverse()
    .sort((a, b) => b.point.length - a.point.length);
  return mount && { device: mount.device, path: join(mount.root, relative(mount.point, path)) };
};

const readMounts = (): readonly Mount[] => {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, , device, root, point] = line.split(' ');
        if (device === undefined || root === undefined || point === undefined) return [];
        return [{ device, root: decoded(root), point: decoded(point) }];
      });
  } catch {
    return [];
  }
};

/** Decodes blanks and similar characters, which the kernel writes as octal numbers. */
const decoded = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 8)),
  );
