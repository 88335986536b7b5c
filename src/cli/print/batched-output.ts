/** Batched output: joins the lines of one event-loop turn into one write. */

/** Maximum characters in the buffer. A longer buffer is written at once. */
const MAX_BUFFERED_CHARS = 64 * 1024;

export class BatchedOutput {
  private readonly out: (text: string) => void;
  private buffer = '';
  private flushing: NodeJS.Immediate | undefined;

  constructor(out: (text: string) => void) {
    this.out = out;
  }

  readonly add = (line: string): void => {
    this.buffer += `${line}\n`;
    if (this.buffer.length >= MAX_BUFFERED_CHARS) this.flush();
    else this.flushing ??= setImmediate(() => this.flush());
  };

  flush(): void {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    const text = this.buffer;
    this.buffer = '';
    if (text !== '') this.out(text);
  }
}
