/** File beside the session that holds a large output. */

/** Maximum size. Further output is dropped, and the last line of the artifact says so. */
export const MAX_ARTIFACT_BYTES = 64 * 1024 * 1024;

export interface Artifact {
  readonly path: string;
  write(chunk: Uint8Array): void;
  /** Rejects if a write failed. */
  close(): Promise<void>;
}
