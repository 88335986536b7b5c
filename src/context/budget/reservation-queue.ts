/** Reservation queue: requests that wait for a shared resource, answered strictly in order. */

/** Answer of a request that has to wait. */
export const WAITING = Symbol('waiting');
export type QueueAnswer<Answer> = Answer | typeof WAITING;

interface Waiter<Answer> {
  readonly judge: () => QueueAnswer<Answer>;
  readonly answer: (answer: Answer) => void;
}

export class ReservationQueue<Answer> {
  /** A set, because it keeps the order and removes an aborted waiter without a search. */
  private readonly waiters = new Set<Waiter<Answer>>();

  /**
   * Resolves when `judge` returns an answer. Calls `waits` before it waits. Rejects with the
   * signal's reason once aborted, or with the error that `waits` throws.
   */
  enqueue(
    judge: () => QueueAnswer<Answer>,
    signal: AbortSignal,
    waits: () => void = () => {},
  ): Promise<Answer> {
    if (this.waiters.size === 0) {
      const now = judge();
      if (now !== WAITING) return Promise.resolve(now);
    }
    return new Promise((resolve, reject) => {
      waits();
      const abort = () => {
        this.waiters.delete(waiter);
        reject(signal.reason);
        // The next waiter may need less.
        this.recheck();
      };
      const waiter = {
        judge,
        answer(answer: Answer) {
          signal.removeEventListener('abort', abort);
          resolve(answer);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      this.waiters.add(waiter);
    });
  }

  /** Answers the waiters at the head that need not wait any more. Called after every change. */
  recheck(): void {
    for (const waiter of this.waiters) {
      const answer = waiter.judge();
      if (answer === WAITING) return;
      this.waiters.delete(waiter);
      waiter.answer(answer);
    }
  }
}
