/** Manifest of a workspace: its files before a command, stored as a small document in a blob. */
import { z } from 'zod';
import type { Blobs, FileState } from '../../protocol/session/checkpoints.js';

/** State of a file, with the git object that has its content if no blob has it. */
export interface KeptState {
  readonly state: FileState;
  readonly object?: string | undefined;
}

export type KeptTree = ReadonlyMap<string, KeptState>;

export interface WorkspaceManifest {
  readonly roots: readonly string[];
  readonly files: KeptTree;
  /** True if part of the tree was not scanned. */
  readonly isCut: boolean;
}

const entrySchema = z.union([
  z.tuple([z.string(), z.enum(['f', 'l']), z.number().int(), z.string()]),
  z.tuple([z.string(), z.literal('f'), z.number().int(), z.string(), z.string()]),
  z.tuple([z.string(), z.literal('d'), z.number().int()]),
  z.tuple([z.string(), z.literal('u'), z.string()]),
]);
type Entry = z.infer<typeof entrySchema>;

const manifestSchema = z.object({
  v: z.literal(1),
  roots: z.array(z.string()),
  isCut: z.boolean(),
  /** Digest of the manifest that this manifest is a difference to. */
  base: z.string().optional(),
  entries: z.array(entrySchema),
  gone: z.array(z.string()).optional(),
});

/**
 * Minimum ratio of files to changes for which a difference is written instead of a full manifest.
 */
const MIN_FILES_PER_CHANGE = 8;

/**
 * Writes manifests. Most commands change few files, so most manifests are differences to an earlier
 * one.
 */
export class ManifestWriter {
  private readonly blobs: Blobs;
  private lastFull:
    | { readonly digest: string; readonly lines: ReadonlyMap<string, string> }
    | undefined;

  constructor(blobs: Blobs) {
    this.blobs = blobs;
  }

  /** Writes a manifest and returns the digest of its blob. Throws StorageError. */
  write(files: KeptTree, roots: readonly string[], isCut: boolean): string {
    const lines = new Map<string, string>();
    for (const [path, kept] of files) lines.set(path, JSON.stringify(entryOf(path, kept)));
    const { lastFull } = this;
    if (lastFull !== undefined) {
      const entries = [...lines].filter(([path, line]) => lastFull.lines.get(path) !== line);
      const gone = [...lastFull.lines.keys()].filter((path) => !lines.has(path));
      if ((entries.length + gone.length) * MIN_FILES_PER_CHANGE <= lines.size) {
        if (entries.length + gone.length === 0) return lastFull.digest;
        const head = JSON.stringify({ v: 1, roots, isCut, base: lastFull.digest, gone });
        return this.put(
          head,
          entries.map(([, line]) => line),
        );
      }
    }
    const digest = this.put(JSON.stringify({ v: 1, roots, isCut }), [...lines.values()]);
    this.lastFull = { digest, lines };
    return digest;
  }

  private put(head: string, entries: readonly string[]): string {
    return this.blobs.put(Buffer.from(`${head.slice(0, -1)},"entries":[${entries.join(',')}]}`));
  }
}

const entryOf = (path: string, { state, object }: KeptState): Entry => {
  switch (state.kind) {
    case 'file':
      return object === undefined
        ? [path, 'f', state.mode, state.digest]
        : [path, 'f', state.mode, state.digest, object];
    case 'link':
      return [path, 'l', state.mode, state.digest];
    case 'directory':
      return [path, 'd', state.mode];
    case 'unknown':
      return [path, 'u', state.why];
    case 'absent':
      return [path, 'u', 'it was not there'];
  }
};

/** Returns undefined if the blob is missing, damaged or not a manifest. */
export const readManifest = (blobs: Blobs, digest: string): WorkspaceManifest | undefined => {
  const manifest = parse(blobs, digest);
  if (manifest === undefined) return undefined;
  const base = manifest.base === undefined ? undefined : parse(blobs, manifest.base);
  if (manifest.base !== undefined && base === undefined) return undefined;
  const files = new Map<string, KeptState>();
  for (const entry of base?.entries ?? []) files.set(entry[0], keptOf(entry));
  for (const path of manifest.gone ?? []) files.delete(path);
  for (const entry of manifest.entries) files.set(entry[0], keptOf(entry));
  return { roots: manifest.roots, files, isCut: manifest.isCut };
};

const parse = (blobs: Blobs, digest: string): z.infer<typeof manifestSchema> | undefined => {
  const bytes = blobs.read(digest);
  if ('reason' in bytes) return undefined;
  try {
    return manifestSchema.parse(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return undefined;
  }
};

const keptOf = (entry: Entry): KeptState => {
  switch (entry[1]) {
    case 'd':
      return { state: { kind: 'directory', mode: entry[2] } };
    case 'u':
      return { state: { kind: 'unknown', why: entry[2] } };
    default: {
      const kind = entry[1] === 'f' ? 'file' : 'link';
      return { state: { kind, mode: entry[2], digest: entry[3] }, object: entry[4] };
    }
  }
};

/** Returns the digests of all blobs that a manifest needs, including its own. */
export const manifestBlobs = (blobs: Blobs, digest: string): readonly string[] => {
  const manifest = parse(blobs, digest);
  const resolved = readManifest(blobs, digest);
  const ownDigests = [digest, ...(manifest?.base === undefined ? [] : [manifest.base])];
  const fileDigests = [...(resolved?.files.values() ?? [])].flatMap(({ state }) =>
    'digest' in state ? [state.digest] : [],
  );
  return [...ownDigests, ...fileDigests];
};
