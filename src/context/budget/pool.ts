/**
 * Pool of whole units that is shared down the agent tree. Used units, units reserved for open
 * requests, units allocated to child pools and units left always add up to the cap.
 */
export class Pool {
  /** Called after every change that may decide a waiting request. */
  onChange: () => void = () => {};
  private readonly parent: Pool | undefined;
  /** Cap while the pool is open. */
  private openCap: number;
  private usedUnits = 0;
  private reservedUnits = 0;
  /** Sum of the child pools: the cap of each, or its use if that is more. */
  private allocatedUnits = 0;
  private closed = false;

  constructor(cap: number, parent?: Pool) {
    this.parent = parent;
    this.openCap = cap;
    parent?.allocate(cap);
  }

  /** Initial units; for a closed pool, the units that it took. */
  get cap(): number {
    return this.closed ? this.taken : this.openCap;
  }

  get used(): number {
    return this.usedUnits;
  }

  get reserved(): number {
    return this.reservedUnits;
  }

  get allocated(): number {
    return this.allocatedUnits;
  }

  /** Negative after an overshoot. */
  get left(): number {
    return this.cap - this.taken;
  }

  /** Units left if all open requests cost nothing. */
  get leftAtBest(): number {
    return this.closed ? 0 : this.openCap - this.usedUnits - this.allocatedUnits;
  }

  get overshoot(): number {
    return Math.max(0, this.usedUnits + this.allocatedUnits - this.openCap);
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** Returns a child pool with `units` units, or with the units left if they are fewer. */
  share(units: number): Pool {
    return new Pool(Math.max(0, Math.min(units, this.left)), this);
  }

  reserve(units: number): void {
    this.change(() => {
      this.reservedUnits += units;
    });
  }

  /** Releases `reserved` units and books `used` units, which may be more. */
  settle(reserved: number, used: number): void {
    this.change(() => {
      this.reservedUnits -= reserved;
      this.usedUnits += used;
    });
    this.onChange();
  }

  /** Makes `units` available again, independent of earlier use. */
  renew(units: number): void {
    this.openCap = units + this.usedUnits;
    this.onChange();
  }

  /** Returns unused units to the parent, and reserved units when their requests end. */
  close(): void {
    this.change(() => {
      this.closed = true;
    });
    this.onChange();
  }

  private get taken(): number {
    return this.usedUnits + this.reservedUnits + this.allocatedUnits;
  }

  /** Units that the parent pool cannot give to other pools. */
  private get claim(): number {
    return this.closed ? this.taken : Math.max(this.openCap, this.taken);
  }

  private allocate(units: number): void {
    this.change(() => {
      this.allocatedUnits += units;
    });
    this.onChange();
  }

  private change(make: () => void): void {
    const before = this.claim;
    make();
    const more = this.claim - before;
    if (more !== 0) this.parent?.allocate(more);
  }
}
