/** Those who wait for something that others hold: first come, first served, and nobody overtakes. */

/** Nothing can be said yet. */
export const isWaiting = Symbol('waiting');
export type Verdict<Answer> = Answer | typeof isWaiting;

interface Waiter<Answer> {
  readonly judge: () => Verdict<Answer>;
  readonly answer: (answer: Answer) => void;
}

export class Queue<Answer> {
  /** A set keeps the order, and lets go of whoever gives up without a search. */
  private readonly waiters = new Set<Waiter<Answer>>();

  /**
   * Resolves when `judge` has an answer. Rejects with the signal's reason, or with what `waits` throws:
   * it is called before a wait, if there is one.
   */
  ask(
    judge: () => Verdict<Answer>,
    signal: AbortSignal,
    waits: () => void = () => {},
  ): Promise<Answer> {
    if (this.waiters.size === 0) {
      const now = judge();
      if (now !== isWaiting) return Promise.resolve(now);
    }
    return new Promise((resolve, reject) => {
      waits();
      const giveUp = () => {
        this.waiters.delete(waiter);
        reject(signal.reason);
        // Whoever came next may want less.
        this.look();
      };
      const waiter = {
        judge,
        answer(answer: Answer) {
          signal.removeEventListener('abort', giveUp);
          resolve(answer);
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.waiters.add(waiter);
    });
  }

  /** Something has changed: answers those at the head who need not wait any more. */
  look(): void {
    for (const waiter of this.waiters) {
      const verdict = waiter.judge();
      if (verdict === isWaiting) return;
      this.waiters.delete(waiter);
      waiter.answer(verdict);
    }
  }
}
