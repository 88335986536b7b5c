/** Cuts a stream of bytes at delimiters, and holds no more of a piece than is wanted of it. */

export interface Piece {
  readonly bytes: Buffer;
  /** There was more than was kept. */
  readonly isCut: boolean;
}

export class ByteReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private chunk: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.chunks = chunks[Symbol.asyncIterator]();
  }

  /** The bytes before the next delimiter, of which at most `keep`; undefined when none is left. */
  async until(delimiter: number, keep: number): Promise<Piece | undefined> {
    const kept: Buffer[] = [];
    let length = 0;
    let isCut = false;
    for (;;) {
      const end = this.chunk.indexOf(delimiter);
      const found = end === -1 ? this.chunk : this.chunk.subarray(0, end);
      if (found.length > 0) {
        const wanted = found.subarray(0, keep - length);
        if (wanted.length > 0) kept.push(wanted);
        length += wanted.length;
        isCut ||= wanted.length < found.length;
      }
      if (end !== -1) {
        this.chunk = this.chunk.subarray(end + 1);
        return { bytes: Buffer.concat(kept), isCut };
      }
      const next = await this.chunks.next();
      // What has no delimiter was cut short, and is nobody's piece.
      if (next.done === true) return undefined;
      this.chunk = next.value;
    }
  }
}
