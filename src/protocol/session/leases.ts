/** The right of one process to write a session, numbered so that one who has lost it is known (law 8). */

export interface LeaseHolder {
  readonly pid: number;
  readonly host: string;
}

export interface Leases {
  /** Under a higher epoch than ever before. Rejects with a UsageError that says who holds it, if that one lives. */
  take(name: string): Promise<Lease>;
  /** Without wanting it; undefined when nobody who lives holds it. */
  holder(name: string): Promise<LeaseHolder | undefined>;
}

export interface Lease {
  readonly epoch: number;
  /** Harmless when somebody else has it by now. */
  release(): Promise<void>;
}
