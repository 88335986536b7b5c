/** Observable content of a screen that notifies its listeners at a bounded rate. */

/** Minimum time between two `notify` calls. Changes by keys are not delayed. */
export const FRAME_MS = 100;

export class Observable {
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private emittedAt = Number.NEGATIVE_INFINITY;

  /** Adds a listener. Returns a function that removes it. */
  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.watchStarted();
    return () => {
      if (!this.listeners.delete(listener) || this.listeners.size > 0) return;
      this.clearTimers();
      this.watchEnded();
    };
  }

  /** Called when the first listener is added. */
  protected watchStarted(): void {}

  /** Called when the last listener is removed. */
  protected watchEnded(): void {}

  /** Notifies the listeners at most every `FRAME_MS`; changes in between share one notification. */
  notify(): void {
    if (this.timer !== undefined || this.listeners.size === 0) return;
    const delay = this.emittedAt + FRAME_MS - performance.now();
    if (delay <= 0) this.emit();
    else this.timer = setTimeout(() => this.emit(), delay);
  }

  /** Notifies the listeners at once, for an effect that the person waits to see. */
  notifyNow(): void {
    this.emit();
  }

  /** Notifies the listeners after the current input, so that keys which arrive together share one notification. */
  notifySoon(): void {
    this.immediate ??= setImmediate(() => this.emit());
  }

  private emit(): void {
    this.clearTimers();
    this.emittedAt = performance.now();
    for (const listener of this.listeners) listener();
  }

  private clearTimers(): void {
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
    [this.timer, this.immediate] = [undefined, undefined];
  }
}
