/** Lines for a program that reads them. What is said in one tick is one write: a swarm says thousands. */

/** So much is written at once, whatever else the tick has to say. */
const MANY_CHARS = 64 * 1024;

export class GatheredLines {
  private readonly out: (text: string) => void;
  private waiting = '';
  private flushing: NodeJS.Immediate | undefined;

  constructor(out: (text: string) => void) {
    this.out = out;
  }

  readonly add = (line: string): void => {
    this.waiting += `${line}\n`;
    if (this.waiting.length >= MANY_CHARS) this.flush();
    else this.flushing ??= setImmediate(() => this.flush());
  };

  flush(): void {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    const text = this.waiting;
    this.waiting = '';
    if (text !== '') this.out(text);
  }
}
