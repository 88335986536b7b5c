/** Leases: the right of one process to write a session, with a fencing epoch (law 8). */

export interface LeaseHolder {
  readonly pid: number;
  readonly host: string;
  /** Milliseconds until the lease ends, if the process has missed its heartbeats and is lost. */
  readonly leaseEndsInMs?: number;
}

/** True if there is a holder and it has not missed its heartbeats. */
export const isAlive = (holder: LeaseHolder | undefined): boolean =>
  holder !== undefined && holder.leaseEndsInMs === undefined;

/** Returns the state of a lost process for people: `lost, lease ends in 9 s`. */
export const leaseText = (leaseEndsInMs: number): string =>
  `lost, lease ends in ${Math.ceil(leaseEndsInMs / 1_000)} s`;

export interface Leases {
  /** Takes the lease under a new highest epoch. Rejects with UsageError if a live process holds it. */
  take(name: string): Promise<Lease>;
  /** Returns the live holder without taking the lease, or undefined. */
  holder(name: string): Promise<LeaseHolder | undefined>;
}

export interface Lease {
  readonly epoch: number;
  /** True if the owner of the epoch before has released its lease. Left out if that is unknown. */
  readonly isAfterRelease?: boolean;
  /** No effect if another process has taken the lease. */
  release(): Promise<void>;
}
