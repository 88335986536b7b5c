import { keepEnd, truncateText } from '../text/truncate-text.js';

/** Both ends of a growing text. Memory holds at most five halves of `limit` characters. */
export class StreamEnds {
  /** Length of the whole text. */
  characters = 0;
  private head = '';
  private tail = '';
  private readonly half: number;

  constructor(limit: number) {
    this.half = Math.ceil(limit / 2);
  }

  append(text: string): void {
    this.characters += text.length;
    const missing = this.tail === '' ? this.half - this.head.length : 0;
    const first = truncateText(text, Math.max(0, missing));
    this.head += first;
    this.tail += text.slice(first.length);
    if (this.tail.length > 4 * this.half) this.tail = keepEnd(this.tail, 2 * this.half);
  }

  /** Both ends as a single text; the whole text if it has at most `limit` characters. */
  get text(): string {
    return this.head + this.tail;
  }

  get lastLine(): string {
    const recent = (this.tail || this.head).trimEnd();
    return keepEnd(recent.slice(recent.lastIndexOf('\n') + 1), 200);
  }
}
