/** Reads manifests: the files of a workspace before a command, stored as documents in blobs. */
import { z } from 'zod';
import type { Blobs } from '../../protocol/session/checkpoints.js';
import { type KeptState, keptState, type ManifestEntry } from './manifest-entry.js';

export interface WorkspaceManifest {
  readonly roots: readonly string[];
  readonly files: ReadonlyMap<string, KeptState>;
  /** True if part of the tree was not scanned. */
  readonly isCut: boolean;
}

const entries: z.ZodType<ManifestEntry[]> = z.array(
  z.union([
    z.tuple([z.string(), z.enum(['f', 'l']), z.number().int(), z.string()]),
    z.tuple([z.string(), z.literal('f'), z.number().int(), z.string(), z.string()]),
    z.tuple([z.string(), z.literal('d'), z.number().int()]),
    z.tuple([z.string(), z.literal('u'), z.string()]),
  ]),
);

const manifestSchema = z.discriminatedUnion('v', [
  /** Written by earlier versions. */
  z.object({
    v: z.literal(1),
    roots: z.array(z.string()),
    isCut: z.boolean(),
    /** Digest of the manifest that this manifest is a difference to. */
    base: z.string().optional(),
    entries,
    gone: z.array(z.string()).default([]),
  }),
  z.object({
    v: z.literal(2),
    roots: z.array(z.string()),
    isCut: z.boolean(),
    /** Digests of blobs with the entries that this manifest is a difference to. */
    parts: z.array(z.string()),
    entries,
    gone: z.array(z.string()),
  }),
]);

/** Returns undefined if a blob is missing, damaged or not a manifest. */
export const readManifest = (blobs: Blobs, digest: string): WorkspaceManifest | undefined => {
  const manifest = parse(blobs, digest, manifestSchema);
  if (manifest === undefined) return undefined;
  const files = new Map<string, KeptState>();
  for (const part of partsOf(manifest)) {
    const found =
      manifest.v === 1 ? parse(blobs, part, manifestSchema)?.entries : parse(blobs, part, entries);
    if (found === undefined) return undefined;
    for (const entry of found) files.set(entry[0], keptState(entry));
  }
  for (const path of manifest.gone) files.delete(path);
  for (const entry of manifest.entries) files.set(entry[0], keptState(entry));
  return { roots: manifest.roots, files, isCut: manifest.isCut };
};

const partsOf = (manifest: z.infer<typeof manifestSchema>): readonly string[] => {
  if (manifest.v === 2) return manifest.parts;
  return manifest.base === undefined ? [] : [manifest.base];
};

const parse = <Output>(
  blobs: Blobs,
  digest: string,
  schema: z.ZodType<Output>,
): Output | undefined => {
  const bytes = blobs.read(digest);
  if ('reason' in bytes) return undefined;
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return undefined;
  }
};

/** Returns the digests of all blobs that a manifest needs, including its own. */
export const manifestBlobs = (blobs: Blobs, digest: string): readonly string[] => {
  const manifest = parse(blobs, digest, manifestSchema);
  const files = readManifest(blobs, digest)?.files.values() ?? [];
  const contents = [...files].flatMap(({ state }) => ('digest' in state ? [state.digest] : []));
  return [digest, ...(manifest === undefined ? [] : partsOf(manifest)), ...contents];
};
