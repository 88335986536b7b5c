/** The files of a workspace as they were before a command, as one small document in a blob. */
import { z } from 'zod';
import type { Blobs, FileState } from '../../protocol/session/checkpoint.js';

/** A state, and the git object that has the contents where no blob does. */
export interface KeptState {
  readonly state: FileState;
  readonly object?: string | undefined;
}

export type KeptTree = ReadonlyMap<string, KeptState>;

export interface ReadManifest {
  readonly roots: readonly string[];
  readonly files: KeptTree;
  /** Some of the tree was not looked at. */
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
  /** The manifest that this one tells the differences from. */
  base: z.string().optional(),
  entries: z.array(entry),
  gone: z.array(z.string()).optional(),
});

/** Differences are written as long as they are a small part of the whole. */
const WORTH = 8;

/** Most commands change little, so most manifests only say how they differ from an earlier one. */
export class ManifestWriter {
  private readonly blobs: Blobs;
  private whole:
    | { readonly digest: string; readonly lines: ReadonlyMap<string, string> }
    | undefined;

  constructor(blobs: Blobs) {
    this.blobs = blobs;
  }

  /** The digest of the blob. Throws a StorageError. */
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

/** Undefined when it is gone, damaged or not one. */
export const readManifest = (blobs: Blobs, digest: string): ReadManifest | undefined => {
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

/** Blobs that a manifest needs, itself included. */
export const citedBy = (blobs: Blobs, digest: string): readonly string[] => {
  const top = parse(blobs, digest);
  const read = readManifest(blobs, digest);
  const own = [digest, ...(top?.base === undefined ? [] : [top.base])];
  const held = [...(read?.files.values() ?? [])].flatMap(({ state }) =>
    'digest' in state ? [state.digest] : [],
  );
  return [...own, ...held];
};
