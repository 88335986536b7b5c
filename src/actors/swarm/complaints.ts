/** Sentences for people that come up before anybody listens: they are told then. */
export class BufferedNotices {
  private kept: string[] | undefined = [];
  private readonly tell: (text: string) => void;

  constructor(tell: (text: string) => void) {
    this.tell = tell;
  }

  add(text: string): void {
    if (this.kept === undefined) this.tell(text);
    else this.kept.push(text);
  }

  /** Somebody listens from now on. */
  release(): void {
    const kept = this.kept ?? [];
    this.kept = undefined;
    for (const text of kept) this.tell(text);
  }
}
