/** Runs one task at a time per key, in the order of the calls. A failed task does not stop later tasks. */
export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  /** True if a task with this key runs or waits. */
  isLocked(key: string): boolean {
    return this.last.has(key);
  }

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.last.get(key) ?? Promise.resolve();
    const current = previous.then(task, task);
    this.last.set(key, current);
    try {
      return await current;
    } finally {
      if (this.last.get(key) === current) this.last.delete(key);
    }
  }
}
