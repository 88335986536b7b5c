/** Removes checkpoint blobs that no session cites, from files of their own and from packs. */
import fs from 'node:fs';
import { join } from 'node:path';
import { listNames } from '../io/list-names.js';
import { blobDigest } from './checkpoint-blobs.js';
import { openPack, type PackDraft } from './open-pack.js';
import {
  DRAFT_NAME,
  PACK_NAME,
  type PackEntry,
  PackIndex,
  packOverhead,
  packsFolder,
  readPackEntry,
  withPackFile,
} from './pack-index.js';

export interface SweepResult {
  /** Number of blobs. */
  readonly removed: number;
  readonly freedBytes: number;
}

interface SweepRules {
  readonly isCited: (digest: string) => boolean;
  readonly before: number;
  readonly isDryRun: boolean;
  /** Digests of the blobs that this sweep has moved to new packs. */
  readonly moved: Set<string>;
}

const NONE: SweepResult = { removed: 0, freedBytes: 0 };

/**
 * Removes blobs that no session cites. Keeps files that are not older than `before`, because a session
 * may cite their blobs soon. A pack stays until at most half of its contents are cited; then the cited
 * contents move to a new pack. Drafts of dead processes are removed too.
 */
export const sweepBlobs = (
  root: string,
  isCited: (digest: string) => boolean,
  before: number,
  isDryRun = false,
): SweepResult => {
  const rules = { isCited, before, isDryRun, moved: new Set<string>() };
  const results = [...sweepLoose(root, rules), ...sweepPacks(root, rules)];
  return results.reduce(
    (sum, { removed, freedBytes }) => ({
      removed: sum.removed + removed,
      freedBytes: sum.freedBytes + freedBytes,
    }),
    NONE,
  );
};

const sweepLoose = (root: string, rules: SweepRules): readonly SweepResult[] =>
  listNames(root)
    .filter((folder) => /^[0-9a-f]{2}$/.test(folder))
    .flatMap((folder) =>
      listNames(join(root, folder))
        .filter((name) => !rules.isCited(`${folder}${name}`))
        .map((name) => removeFile(join(root, folder, name), 1, rules)),
    );

const sweepPacks = (root: string, rules: SweepRules): readonly SweepResult[] => {
  const folder = packsFolder(root);
  return listNames(folder).map((name) => {
    const path = join(folder, name);
    if (DRAFT_NAME.test(name)) return removeFile(path, 0, rules);
    return PACK_NAME.test(name) && isOld(path, rules) ? sweepPack(root, path, rules) : NONE;
  });
};

/** Returns undefined for young files, and if the path is no file. */
const oldSize = (path: string, { before }: SweepRules): number | undefined => {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() && stat.mtimeMs < before ? stat.size : undefined;
};

const isOld = (path: string, rules: SweepRules): boolean => oldSize(path, rules) !== undefined;

/** Removes an old file with `blobs` blobs. */
const removeFile = (path: string, blobs: number, rules: SweepRules): SweepResult => {
  const size = oldSize(path, rules);
  if (size === undefined) return NONE;
  if (!rules.isDryRun) fs.rmSync(path, { force: true });
  return { removed: blobs, freedBytes: size };
};

/** Keeps packs that cannot be read or rewritten, so that a full disk loses no blob. */
const sweepPack = (root: string, path: string, rules: SweepRules): SweepResult => {
  const draft = rules.isDryRun ? undefined : openPack(root);
  try {
    return withPackFile(path, (fd) => sweepPackFile(path, fd, draft, rules));
  } catch (error) {
    // Errors of the file system have a code, as has StorageError.
    if ('code' in (error as Error)) return NONE;
    throw error;
  } finally {
    draft?.discard();
  }
};

const sweepPackFile = (
  path: string,
  fd: number,
  draft: PackDraft | undefined,
  rules: SweepRules,
): SweepResult => {
  const index = PackIndex.read(fd);
  if (index === undefined) return NONE;
  const entries = Array.from({ length: index.count }, (_, at) => index.entryAt(at));
  const cited = entries.filter(({ digest }) => rules.isCited(digest));
  const isNeeded = cited.length === entries.length || 2 * bytesOf(cited) > bytesOf(entries);
  if (isNeeded) return NONE;
  const kept = cited.filter((entry) => {
    if (rules.moved.has(entry.digest)) return false;
    const bytes = readPackEntry(fd, index, entry);
    const isIntact = bytes !== undefined && blobDigest(bytes) === entry.digest;
    if (isIntact) draft?.add(entry.digest, bytes);
    return isIntact;
  });
  // The new pack is on disk before the old pack goes. A scan that found a blob in the old pack in the
  // meantime has renewed its date, and then the old pack stays.
  draft?.close();
  for (const { digest } of kept) rules.moved.add(digest);
  const { removed, freedBytes } = removeFile(path, entries.length - kept.length, rules);
  const movedBytes = kept.length === 0 ? 0 : bytesOf(kept) + packOverhead(kept.length);
  return removed === 0 ? NONE : { removed, freedBytes: freedBytes - movedBytes };
};

const bytesOf = (entries: readonly PackEntry[]): number =>
  entries.reduce((sum, { length }) => sum + length, 0);
