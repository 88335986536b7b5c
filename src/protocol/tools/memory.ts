/** Instructions that people leave in files for every agent that works there. */

/** In the order in which they are read; the later one wins. */
export const MEMORY_LAYERS = ['managed', 'user', 'project', 'local', 'auto', 'team'] as const;
export type MemoryLayer = (typeof MEMORY_LAYERS)[number];

/** How the model is told whose words they are, after the path of a file. */
export const MEMORY_LABELS: Readonly<Record<MemoryLayer, string>> = {
  managed: 'instructions of the administrator, for everybody on this machine',
  user: "the user's private instructions, for all projects",
  project: 'instructions of the project, checked in with its code',
  local: "the user's private instructions for this project, not checked in",
  auto: 'private notes from earlier sessions on this project',
  team: 'notes that the team shares, kept in step for all its members',
};

export interface MemoryFile {
  readonly layer: MemoryLayer;
  /** As it was found, absolute. */
  readonly path: string;
  /** The file that includes it; null for one that was found by itself. */
  readonly parent: string | null;
  /** Without front matter and without comments that stand as blocks. */
  readonly text: string;
  /** Over 40,000 characters. It is loaded whole all the same; whoever loads it tells people. */
  readonly isLarge: boolean;
}

/** A rule that joins the conversation only when a file that it is about is touched. */
export interface ConditionalRule extends MemoryFile {
  /** In the manner of .gitignore, relative to `base`. */
  readonly paths: readonly string[];
  readonly base: string;
}

export interface Memory {
  /**
   * In reading order: layer by layer, in a layer from the root down, and right after a file what it
   * includes, in the order in which it names it. No real path comes twice.
   */
  readonly files: readonly MemoryFile[];
  readonly rules: readonly ConditionalRule[];
  /** Sentences for people: what was left out and why. */
  readonly notices: readonly string[];
}

/** An include, or a link in the place of a memory file, that leads out of the workspace. */
export interface ExternalInclude {
  /** Where it really leads, if that is outside; else as it is named. */
  readonly path: string;
  /** The file that names it, or the link itself. */
  readonly parent: string;
}

/** Of a touch, all that it hears of has joined the conversation: the rules too. */
export type LoadOccasion = 'walk' | 'touch';

export interface MemoryPorts {
  /** A person has agreed to it. */
  mayInclude(include: ExternalInclude): boolean;
  /** Nothing is read from such a path, whoever includes it. */
  isSensitive(path: string): boolean;
  /** A walk has ended, or files were touched that more is about: the hook `InstructionsLoaded`. */
  loaded(memory: Memory, because: LoadOccasion): void;
}

/** What a path leads to when its links are followed. */
export interface MemoryPlace {
  /** Without links. */
  readonly real: string;
  readonly kind: 'file' | 'directory' | 'other';
  /** Whose it is, and whose the link is that leads to it. Empty where there are no owners. */
  readonly owners: readonly number[];
}

/** The disk as memory files need it: nothing blocks, nothing is endless, nothing throws. */
export interface MemoryDisk {
  /** The user we run as; undefined where there are no such numbers. */
  readonly user: number | undefined;
  /** Undefined when there is nothing, or nothing that can be reached. */
  look(path: string): Promise<MemoryPlace | undefined>;
  /** Of a regular file only, and all of it or nothing. `real` has no links. */
  read(real: string, mostBytes: number): Promise<Uint8Array | 'too-large' | 'unreadable'>;
  /** In no particular order; all the names or, if they are more than `most`, none. */
  list(real: string, most: number): Promise<readonly MemoryEntry[] | 'too-many' | 'unreadable'>;
}

export interface MemoryEntry {
  readonly name: string;
  /** `other` is neither a directory nor a link. */
  readonly kind: 'directory' | 'link' | 'other';
}
