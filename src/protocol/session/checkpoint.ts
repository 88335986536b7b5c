/** What is kept of files before they change, so that a change can be taken back. */

/** A file as it was: `link` holds the target of a symbolic link as its contents. */
export interface FileVersion {
  readonly kind: 'file' | 'link';
  /** sha256 of the contents, hex: the name of the blob that holds them. */
  readonly digest: string;
  /** Permission bits. */
  readonly mode: number;
}

/** `absent`: there was nothing. `unknown`: nobody kept it, and `why` says so. */
export type FileState =
  | FileVersion
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly why: string };

export interface FileChange {
  /** Absolute. */
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
}

/** Looks at files around a call that may change them. */
export interface Checkpoints {
  /**
   * Before a call with effects starts. What is needed to find its changes is kept and journaled before
   * this resolves, so that a crash in the middle of the call loses nothing. Never rejects: what cannot
   * be kept is said.
   */
  watch(call: WatchedCall): Promise<CallWatch>;
}

export interface WatchedCall {
  readonly call: string;
  /** The files that it says it will write; undefined when it may touch anything. */
  readonly paths: readonly string[] | undefined;
}

export interface CallWatch {
  /** After the call has ended, however it ended: what is different now, for `files.changed`. */
  changes(): Promise<readonly FileChange[]>;
}

/** Contents by their sha256. */
export interface Blobs {
  /** Keeps the bytes and returns their digest. Throws a StorageError. */
  put(bytes: Uint8Array): string;
  has(digest: string): boolean;
  /** A blob whose bytes are not those that its name says is damaged, and never given out. */
  read(digest: string): Uint8Array | { readonly trouble: string };
}

/** Where nothing is kept: `skein rewind` has nothing to go by. */
export const NO_CHECKPOINTS: Checkpoints = {
  watch: async () => ({ changes: async () => [] }),
};
