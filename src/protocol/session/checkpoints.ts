/** Checkpoints: file versions stored before a call changes files, so that changes can be undone. */

/** A stored file version. The contents of a `link` are the target of the symbolic link. */
interface FileVersion {
  readonly kind: 'file' | 'link';
  /** sha256 of the contents, hex. Also the name of the blob with the contents. */
  readonly digest: string;
  /** Permission bits. */
  readonly mode: number;
}

/** `absent`: the file did not exist. `unknown`: the contents were not stored, for the reason `why`. */
export type FileState =
  | FileVersion
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly why: string };

export interface FileChange {
  /** Absolute path. */
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
}

/** Records file changes made by calls. */
export interface Checkpoints {
  /** Looks at the files for a command that may start soon, so that `watch` takes less time. */
  prepare(): void;
  /**
   * Called before a call with effects starts. Stores and journals the state that is needed to find the
   * changes, so that a crash during the call loses none. Never rejects: files that cannot be stored are
   * reported.
   */
  watch(call: WatchedCall): Promise<CallWatch>;
}

export interface WatchedCall {
  readonly call: string;
  /** Files that the call declares it will write, or undefined if it may change any file. */
  readonly paths: readonly string[] | undefined;
}

export interface CallWatch {
  /**
   * True if the changes take time and are recorded after the end of the call, also if there are none: before
   * the next effect, the next answer and the end of the run.
   */
  readonly isDeferred: boolean;
  /** Returns the changes since `watch`, for `files.changed`. Called once, when the call has ended. */
  changes(): Promise<readonly FileChange[]>;
  /** Called instead of `changes` if the call does not start. */
  cancel(): void;
}

/** File contents by sha256. */
export interface Blobs {
  /** Stores the bytes and returns their digest. Throws StorageError. */
  put(bytes: Uint8Array): string;
  has(digest: string): boolean;
  /** Returns a reason if the blob is missing, or damaged, that is if its digest differs from its name. */
  read(digest: string): Uint8Array | { readonly reason: string };
}
