/**
 * The newest of what a job prints, with its two streams in the order in which they came. Positions
 * count characters (UTF-16 units) from the beginning, so a reader can tell what it has missed.
 */

export interface RingReading {
  readonly text: string;
  readonly upTo: number;
  readonly dropped: number;
}

export class OutputRing {
  private readonly size: number;
  /** Up to twice the size, so that trimming costs little however small the pieces are. */
  private text = '';
  private end = 0;
  // One each: a character may be split between pieces with the other stream in between.
  private readonly decoders = {
    stdout: new TextDecoder('utf-8', { ignoreBOM: true }),
    stderr: new TextDecoder('utf-8', { ignoreBOM: true }),
  };

  constructor(size: number) {
    this.size = size;
  }

  /** Returns what the bytes, with the rest of an earlier piece, come to as text. */
  add(stream: 'stdout' | 'stderr', bytes: Uint8Array): string {
    return this.append(this.decoders[stream].decode(bytes, { stream: true }));
  }

  /** Half a character at the end of a stream can no longer become a whole one. */
  finish(): string {
    return this.append(this.decoders.stdout.decode() + this.decoders.stderr.decode());
  }

  since(from: number): RingReading {
    const kept = lastOf(this.text, this.size);
    const start = this.end - kept.length;
    const dropped = Math.max(0, start - from);
    return { text: kept.slice(Math.max(0, from - start)), upTo: this.end, dropped };
  }

  private append(text: string): string {
    this.text += text;
    this.end += text.length;
    if (this.text.length > 2 * this.size) this.text = lastOf(this.text, this.size);
    return text;
  }
}

/** Never begins with the second half of a surrogate pair. */
const lastOf = (text: string, length: number): string => {
  if (text.length <= length) return text;
  const from = text.length - length;
  const unit = text.charCodeAt(from);
  return text.slice(unit >= 0xdc00 && unit <= 0xdfff ? from + 1 : from);
};
