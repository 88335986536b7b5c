/** Messages of a run on their way from another process to whoever reads them. */

import type { SkeinMessage } from './messages/messages.js';
import { noticeMessage } from './messages/to-message.js';

/** A reader that is so far behind loses raw stream events, which are only for show, and is told. */
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

  /** Nothing comes after this. */
  end(failure?: { readonly error: unknown }): void {
    this.isOver = true;
    this.failure = failure;
    this.wake?.();
  }

  /** For one reader. Throws what it was ended with, after everything that came before. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SkeinMessage, void> {
    for (;;) {
      const batch = this.waiting;
      this.waiting = [];
      yield* batch;
      const last = batch.at(-1);
      if (this.dropped > 0 && last !== undefined) {
        const text = `The reader fell behind: ${this.dropped} stream events dropped.`;
        this.dropped = 0;
        yield noticeMessage(text, { parent_tool_use_id: null, session_id: last.session_id });
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
