/** Cleanup steps that run once, the last added step first. */
export class CleanupStack {
  private readonly steps: (() => unknown)[] = [];
  private running: Promise<void> | undefined;

  /** Adds a step. No effect on a cleanup that has started. */
  defer(step: () => unknown): void {
    this.steps.push(step);
  }

  /** Runs every step, even if another step fails. Rejects with the first error. Idempotent. */
  run(): Promise<void> {
    this.running ??= this.runAll(this.steps.toReversed());
    return this.running;
  }

  private async runAll(steps: readonly (() => unknown)[]): Promise<void> {
    const errors: unknown[] = [];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
