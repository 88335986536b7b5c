/**
 * Pool of whole units that is shared down the agent tree. Used units, units held for open requests,
 * units set aside for child pools and units left always add up to the cap.
 */
export class Pool {
  /** Called after every change that may decide a waiting request. */
  onChange: () => void = () => {};
  private readonly parent: Pool | undefined;
  private granted: number;
  private own = 0;
  private held = 0;
  /** Sum of the child pools: the cap of each, or its use if that is more. */
  private aside = 0;
  private closed = false;

  constructor(granted: number, parent?: Pool) {
    this.parent = parent;
    this.granted = granted;
    parent?.setAside(granted);
  }

  /** Initial units; for a closed pool, the units that it took. */
  get cap(): number {
    return this.closed ? this.taken : this.granted;
  }

  get used(): number {
    return this.own;
  }

  get reserved(): number {
    return this.held;
  }

  get promised(): number {
    return this.aside;
  }

  /** Negative after an overshoot. */
  get left(): number {
    return this.cap - this.taken;
  }

  /** Units left if all open requests cost nothing. */
  get leftAtBest(): number {
    return this.closed ? 0 : this.granted - this.own - this.aside;
  }

  get overshoot(): number {
    return Math.max(0, this.own + this.aside - this.granted);
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** Returns a child pool with `units` units, or with the units left if they are fewer. */
  share(units: number): Pool {
    return new Pool(Math.max(0, Math.min(units, this.left)), this);
  }

  hold(units: number): void {
    this.change(() => {
      this.held += units;
    });
  }

  /** Releases `held` units and books `used` units, which may be more. */
  settle(held: number, used: number): void {
    this.change(() => {
      this.held -= held;
      this.own += used;
    });
    this.onChange();
  }

  /** Makes `units` available again, independent of earlier use. */
  renew(units: number): void {
    this.granted = units + this.own;
    this.onChange();
  }

  /** Returns unused units to the parent, and held units when their requests end. */
  close(): void {
    this.change(() => {
      this.closed = true;
    });
    this.onChange();
  }

  private get taken(): number {
    return this.own + this.held + this.aside;
  }

  /** Units that the parent pool cannot give to other pools. */
  private get claim(): number {
    return this.closed ? this.taken : Math.max(this.granted, this.taken);
  }

  private setAside(units: number): void {
    this.change(() => {
      this.aside += units;
    });
    this.onChange();
  }

  private change(make: () => void): void {
    const before = this.claim;
    make();
    const more = this.claim - before;
    if (more !== 0) this.parent?.setAside(more);
  }
}
