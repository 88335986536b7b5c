/**
 * Output ring with the newest output of a job, both streams in order of arrival. Positions count
 * UTF-16 units from the start, so a reader can detect dropped output.
 */

export interface RingReading {
  readonly text: string;
  readonly upTo: number;
  readonly dropped: number;
}

export class OutputRing {
  private readonly size: number;
  /** Up to twice the size, so that trimming is rare even with small pieces. */
  private text = '';
  private end = 0;
  // A decoder per stream, because a character may be split between pieces of different streams.
  private readonly decoders = {
    stdout: new TextDecoder('utf-8', { ignoreBOM: true }),
    stderr: new TextDecoder('utf-8', { ignoreBOM: true }),
  };

  constructor(size: number) {
    this.size = size;
  }

  /** Decodes and appends the bytes. Returns the added text. */
  add(stream: 'stdout' | 'stderr', bytes: Uint8Array): string {
    return this.append(this.decoders[stream].decode(bytes, { stream: true }));
  }

  /** Flushes incomplete characters at the end of both streams. Returns the added text. */
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

/** Returns the end of the text, not starting inside a surrogate pair. */
const lastOf = (text: string, length: number): string => {
  if (text.length <= length) return text;
  const from = text.length - length;
  const unit = text.charCodeAt(from);
  return text.slice(unit >= 0xdc00 && unit <= 0xdfff ? from + 1 : from);
};
