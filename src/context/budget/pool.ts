/**
 * A pool of something countable that is granted down the tree: what is used, held for work under way,
 * and set aside for pools below always add up, with what is left, to what there is. Whole units only.
 */
export class Pool {
  /** Called after every change that may let somebody go on, or tell them that they never will. */
  onChange: () => void = () => {};
  private readonly parent: Pool | undefined;
  private granted: number;
  private own = 0;
  private held = 0;
  /** Of the pools below: what they were granted, or what they took if that is more. */
  private aside = 0;
  private isOver = false;

  constructor(granted: number, parent?: Pool) {
    this.parent = parent;
    this.granted = granted;
    parent?.setAside(granted);
  }

  /** What there was to begin with; of a closed one, what became of it. */
  get cap(): number {
    return this.isOver ? this.taken : this.granted;
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

  /** Less than zero after an overshoot. */
  get left(): number {
    return this.cap - this.taken;
  }

  /** What would be left if nothing under way cost anything. */
  get leftAtBest(): number {
    return this.isOver ? 0 : this.granted - this.own - this.aside;
  }

  get overshoot(): number {
    return Math.max(0, this.own + this.aside - this.granted);
  }

  get isClosed(): boolean {
    return this.isOver;
  }

  /** A part for somebody below: as much as is asked, or what is left. */
  share(wanted: number): Pool {
    return new Pool(Math.max(0, Math.min(wanted, this.left)), this);
  }

  hold(units: number): void {
    this.change(() => {
      this.held += units;
    });
  }

  /** What was held is over; so much of it, or more, is gone. */
  settle(held: number, used: number): void {
    this.change(() => {
      this.held -= held;
      this.own += used;
    });
    this.onChange();
  }

  /** There is so much again, whatever was used before. */
  renew(units: number): void {
    this.granted = units + this.own;
    this.onChange();
  }

  /** What is not used goes back, and what is still under way as it ends. */
  close(): void {
    this.change(() => {
      this.isOver = true;
    });
    this.onChange();
  }

  private get taken(): number {
    return this.own + this.held + this.aside;
  }

  /** What the pool above cannot give to anybody else. */
  private get claim(): number {
    return this.isOver ? this.taken : Math.max(this.granted, this.taken);
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
