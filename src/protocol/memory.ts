/** Instructions that people leave in files for every agent that works there. */

/** In the order in which they are read; the later one wins. */
export const MEMORY_LAYERS = ['managed', 'user', 'project', 'local', 'auto', 'team'] as const;
export type MemoryLayer = (typeof MEMORY_LAYERS)[number];

export interface MemoryFile {
  readonly layer: MemoryLayer;
  /** As it was found, absolute. */
  readonly path: string;
  /** The file that includes it; null for one that was found by itself. */
  readonly parent: string | null;
  /** Without front matter and without comments that stand as blocks. */
  readonly text: string;
  /** Over 40,000 characters. It is loaded whole all the same, and people are told. */
  readonly isLarge: boolean;
}

/** A rule that joins the conversation only when a file that it is about is touched. */
export interface ConditionalRule extends MemoryFile {
  /** In the manner of .gitignore, relative to `base`. */
  readonly paths: readonly string[];
  readonly base: string;
}

export interface Memory {
  /** In reading order: layer by layer, from the root down, each include before its includer's end. */
  readonly files: readonly MemoryFile[];
  readonly rules: readonly ConditionalRule[];
  /** Sentences for people: what was left out and why. */
  readonly notices: readonly string[];
}

/** An include that leads out of the workspace. */
export interface ExternalInclude {
  readonly path: string;
  readonly parent: string;
}

export interface MemoryPorts {
  /** A person has agreed to it. */
  mayInclude(include: ExternalInclude): boolean;
  /** Nothing is read from such a path, whoever includes it. */
  isSensitive(path: string): boolean;
  /** A walk has ended: the hook `InstructionsLoaded`. */
  loaded(memory: Memory): void;
}
