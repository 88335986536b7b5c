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

const entry = z.union([
  z.tuple([z.string(), z.enum(['f', 'l']), z.number().int(), z.string()]),
  z.tuple([z.string(), z.literal('f'), z.number().int(), z.string(), z.string()]),
  z.tuple([z.string(), z.literal('d'), z.number().int()]),
  z.tuple([z.string(), z.literal('u'), z.string()]),
]);
type Entry = z.infer<typeof entry>;

const manifest = z.object({
  v: z.literal(1),
  roots: z.array(z.string()),
  isCut: z.boolean(),
  /** Manifest that this one is a difference to. */
  base: z.string().optional(),
  entries: z.array(entry),
  gone: z.array(z.string()).optional(),
});

/**
 * Minimum ratio of files to changes for which a difference is written instead of a full manifest.
 */
const WORTH = 8;

/**
 * Writes manifests. Most commands change few files, so most manifests are differences to an earlier
 * one.
 */
export class ManifestWriter {
  private readonly blobs: Blobs;
  private whole:
    | { readonly digest: string; readonly lines: ReadonlyMap<string, string> }
    | undefined;

  constructor(blobs: Blobs) {
    this.blobs = blobs;
  }

  /** Writes a manifest and returns the digest of its blob. Throws StorageError. */
  write(files: KeptTree, roots: readonly string[], isCut: boolean): string {
    const lines = new Map<string, string>();
    for (const [path, kept] of files) lines.set(path, JSON.stringify(entryOf(path, kept)));
    const { whole } = this;
    if (whole !== undefined) {
      const entries = [...lines].filter(([path, line]) => whole.lines.get(path) !== line);
      const gone = [...whole.lines.keys()].filter((path) => !lines.has(path));
      if ((entries.length + gone.length) * WORTH <= lines.size) {
        if (entries.length + gone.length === 0) return whole.digest;
        const head = JSON.stringify({ v: 1, roots, isCut, base: whole.digest, gone });
        return this.put(
          head,
          entries.map(([, line]) => line),
        );
      }
    }
    const digest = this.put(JSON.stringify({ v: 1, roots, isCut }), [...lines.values()]);
    this.whole = { digest, lines };
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
  const top = parse(blobs, digest);
  if (top === undefined) return undefined;
  const base = top.base === undefined ? undefined : parse(blobs, top.base);
  if (top.base !== undefined && base === undefined) return undefined;
  const files = new Map<string, KeptState>();
  for (const it of base?.entries ?? []) files.set(it[0], keptOf(it));
  for (const path of top.gone ?? []) files.delete(path);
  for (const it of top.entries) files.set(it[0], keptOf(it));
  return { roots: top.roots, files, isCut: top.isCut };
};

const parse = (blobs: Blobs, digest: string): z.infer<typeof manifest> | undefined => {
  const bytes = blobs.read(digest);
  if ('trouble' in bytes) return undefined;
  try {
    return manifest.parse(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return undefined;
  }
};

const keptOf = (it: Entry): KeptState => {
  switch (it[1]) {
    case 'd':
      return { state: { kind: 'directory', mode: it[2] } };
    case 'u':
      return { state: { kind: 'unknown', why: it[2] } };
    default: {
      const kind = it[1] === 'f' ? 'file' : 'link';
      return { state: { kind, mode: it[2], digest: it[3] }, object: it[4] };
    }
  }
};

/** Returns the digests of all blobs that a manifest needs, including its own. */
export const manifestBlobs = (blobs: Blobs, digest: string): readonly string[] => {
  const top = parse(blobs, digest);
  const read = readManifest(blobs, digest);
  const own = [digest, ...(top?.base === undefined ? [] : [top.base])];
  const held = [...(read?.files.values() ?? [])].flatMap(({ state }) =>
    'digest' in state ? [state.digest] : [],
  );
  return [...own, ...held];
};
