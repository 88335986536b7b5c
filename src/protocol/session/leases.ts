/** Leases: the right of one process to write a session, with a fencing epoch (law 8). */

export interface LeaseHolder {
  readonly pid: number;
  readonly host: string;
}

export interface Leases {
  /** Takes the lease under a new highest epoch. Rejects with UsageError if a live process holds it. */
  take(name: string): Promise<Lease>;
  /** Returns the live holder without taking the lease, or undefined. */
  holder(name: string): Promise<LeaseHolder | undefined>;
}

export interface Lease {
  readonly epoch: number;
  /** No effect if another process has taken the lease. */
  release(): Promise<void>;
}
