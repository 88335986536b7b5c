/** Memory: instruction files for all agents that work in a folder. */

/** Layers in reading order. Later layers win. */
export const MEMORY_LAYERS = ['managed', 'user', 'project', 'local', 'auto', 'team'] as const;
export type MemoryLayer = (typeof MEMORY_LAYERS)[number];

/** Origin of a file for the model, shown after its path. */
export const MEMORY_LABELS: Readonly<Record<MemoryLayer, string>> = {
  managed: 'instructions of the administrator, for all users of this machine',
  user: "the user's private instructions, for all projects",
  project: 'instructions of the project, checked in with its code',
  local: "the user's private instructions for this project, not checked in",
  auto: 'private notes from earlier sessions on this project',
  team: 'notes that the team shares, the same for all members',
};

export interface MemoryFile {
  readonly layer: MemoryLayer;
  /** Absolute path, before links are followed. */
  readonly path: string;
  /** Path of the including file. Null if no file includes it. */
  readonly parent: string | null;
  /** Text without front matter and block comments. */
  readonly text: string;
  /** True if the text has over 40,000 characters. It is loaded completely, and the loader notifies people. */
  readonly isLarge: boolean;
}

/** A rule that is added to the conversation when a matching file is touched. */
export interface ConditionalRule extends MemoryFile {
  /** Patterns in .gitignore syntax, relative to `base`. */
  readonly paths: readonly string[];
  readonly base: string;
}

export interface Memory {
  /**
   * Files in reading order: by layer, within a layer from the root down, and included files right after
   * the including file. Each real path occurs once.
   */
  readonly files: readonly MemoryFile[];
  readonly rules: readonly ConditionalRule[];
  /** Sentences for people about files that were left out. */
  readonly notices: readonly string[];
}

/** An include, or a memory file that is a link, with a target outside the workspace. */
export interface ExternalInclude {
  /** Real path if it is outside the workspace, else the path as written. */
  readonly path: string;
  /** Path of the including file, or of the link itself. */
  readonly parent: string;
}

/** Why files were loaded. After a `touch` all loaded files and rules are in the conversation. */
export type LoadOccasion = 'walk' | 'touch';

export interface MemoryPorts {
  /** True if a person has approved the include. */
  mayInclude(include: ExternalInclude): boolean;
  /** True if the path must never be read, even if a file includes it. */
  isSensitive(path: string): boolean;
  /** Called after a walk, and when touched files load more memory. Runs the hook `InstructionsLoaded`. */
  onLoad(memory: Memory, because: LoadOccasion): void;
}

/** Target of a path with all links followed. */
export interface ResolvedMemoryPath {
  /** Path without links. */
  readonly real: string;
  readonly kind: 'file' | 'directory' | 'other';
  /** User ids of the target and of the link to it. Empty if the platform has no owners. */
  readonly owners: readonly number[];
}

/** File access of the memory loader. All operations are bounded, and none rejects or blocks. */
export interface MemoryDisk {
  /** User id of this process. Undefined if the platform has none. */
  readonly user: number | undefined;
  /** Returns undefined if the path does not exist or cannot be accessed. */
  resolve(path: string): Promise<ResolvedMemoryPath | undefined>;
  /** Reads a whole regular file. `real` has no links. */
  read(real: string, maxBytes: number): Promise<Uint8Array | 'too-large' | 'unreadable'>;
  /** Returns all entries, unordered, or 'too-many' if there are more than `maxEntries`. */
  list(
    real: string,
    maxEntries: number,
  ): Promise<readonly MemoryEntry[] | 'too-many' | 'unreadable'>;
}

export interface MemoryEntry {
  readonly name: string;
  /** `other` is neither a directory nor a link. */
  readonly kind: 'directory' | 'link' | 'other';
}
