/** Port of edit leases: in a shared working tree each file has at most one editor at a time. */

export interface EditLeaseHolder {
  readonly agent: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** Paths are the final targets of writes, with links followed. */
export interface EditLeaseStore {
  /** Returns the holder without taking the lease, or undefined if the file has none. */
  holder(path: string): Promise<EditLeaseHolder | undefined>;
  /**
   * Takes the lease if it is free, or held by one of `givers`: agents that wait for `requester`. Resolves
   * with the holder afterwards. A holder that takes its lease again keeps its `since`.
   */
  take(
    path: string,
    requester: EditLeaseHolder,
    givers: readonly string[],
  ): Promise<EditLeaseHolder>;
  /** No effect if another agent holds the lease. Never rejects. */
  release(path: string, agent: string): Promise<void>;
  /** Releases all leases of the agent. Never rejects. */
  releaseAll(agent: string): Promise<void>;
}
