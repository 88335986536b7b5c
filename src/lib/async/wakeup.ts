/** Wakes all waiting callers, for example after new data. */
export class Wakeup {
  private readonly waiting = new Set<() => void>();

  notify(): void {
    const woken = [...this.waiting];
    this.waiting.clear();
    for (const wake of woken) wake();
  }

  /** Resolves at the next `notify`, or when the signal aborts. Never rejects. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  get isAwaited(): boolean {
    return this.waiting.size > 0;
  }
}
