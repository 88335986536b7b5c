/** Queue of a run's messages from another process to their reader. */
import type { SkeinMessage } from './messages/skein-message.js';
import { belongingOf, noticeMessage } from './messages/to-message.js';

/** Maximum waiting messages. Beyond it stream events are dropped, and a notice says how many. */
const MAX_BEHIND = 10_000;

export class MessageQueue {
  private waiting: SkeinMessage[] = [];
  private dropped = 0;
  private isOver = false;
  private failure: { readonly error: unknown } | undefined;
  private wake: (() => void) | undefined;

  push(message: SkeinMessage): void {
    if (message.type === 'stream_event' && this.waiting.length >= MAX_BEHIND) this.dropped += 1;
    else this.waiting.push(message);
    this.wake?.();
  }

  /** Ends the queue after the waiting messages. */
  end(failure?: { readonly error: unknown }): void {
    this.isOver = true;
    this.failure = failure;
    this.wake?.();
  }

  /** Yields the messages to one reader, then throws the failure that the queue was ended with, if any. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SkeinMessage, void> {
    for (;;) {
      const batch = this.waiting;
      this.waiting = [];
      yield* batch;
      const last = batch.at(-1);
      if (this.dropped > 0 && last !== undefined) {
        const text = `The reader fell behind: ${this.dropped} stream events dropped.`;
        this.dropped = 0;
        yield noticeMessage(text, belongingOf(last.session_id));
      }
      if (this.waiting.length > 0) continue;
      if (this.failure !== undefined) throw this.failure.error;
      if (this.isOver) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
