/** Something that a screen shows. Whoever looks is told that it has changed, and not too often. */

/** What changes by itself is told of so often at most; what a key has changed, at once. */
export const FRAME_MS = 100;

export class Observable {
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private turn: NodeJS.Immediate | undefined;
  private toldAt = Number.NEGATIVE_INFINITY;

  /** The returned function ends it. */
  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.watchBegan();
    return () => {
      if (!this.listeners.delete(listener) || this.listeners.size > 0) return;
      this.rest();
      this.watchEnded();
    };
  }

  /** Somebody has begun to look. */
  protected watchBegan(): void {}

  /** Nobody looks any more. */
  protected watchEnded(): void {}

  /** Soon: what comes until then is told of together. Costs next to nothing while nobody looks. */
  changed(): void {
    if (this.timer !== undefined || this.listeners.size === 0) return;
    const pause = this.toldAt + FRAME_MS - performance.now();
    if (pause <= 0) this.tell();
    else this.timer = setTimeout(() => this.tell(), pause);
  }

  /** For what somebody has just done and waits to see. */
  changedNow(): void {
    this.tell();
  }

  /** The same for keys: those that arrive together are seen together. */
  changedSoon(): void {
    this.turn ??= setImmediate(() => this.tell());
  }

  private tell(): void {
    this.rest();
    this.toldAt = performance.now();
    for (const listener of this.listeners) listener();
  }

  private rest(): void {
    clearTimeout(this.timer);
    clearImmediate(this.turn);
    [this.timer, this.turn] = [undefined, undefined];
  }
}
