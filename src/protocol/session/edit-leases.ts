/** Which agent may change a file where several work in the same place: one, until it has ended its run. */

export interface FileHolder {
  readonly agent: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** A path is the place where a write lands in the end, links followed. */
export interface FileLeases {
  /** Without wanting it; undefined when nobody holds it. */
  holder(path: string): Promise<FileHolder | undefined>;
  /**
   * Resolves with whoever holds it then: the one who wants it, unless another came first. One that has
   * it already has it for as long as before. From `givers`, who wait for the one who wants it, it is taken.
   */
  take(path: string, wanted: FileHolder, givers: readonly string[]): Promise<FileHolder>;
  /** Harmless when somebody else holds it. Never rejects. */
  release(path: string, agent: string): Promise<void>;
  /** All that it holds. Never rejects. */
  releaseAll(agent: string): Promise<void>;
}
