/** Byte reader that splits a stream at delimiters and keeps a limited number of bytes per piece. */

export interface Piece {
  readonly bytes: Buffer;
  /** True if the piece had more bytes than were kept. */
  readonly isCut: boolean;
}

export class ByteReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private chunk: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns at most `keep` bytes before the next delimiter. Returns undefined if no delimiter follows. */
  async until(delimiter: number, keep: number): Promise<Piece | undefined> {
    const kept: Buffer[] = [];
    let length = 0;
    let isCut = false;
    for (;;) {
      const end = this.chunk.indexOf(delimiter);
      const available = end === -1 ? this.chunk : this.chunk.subarray(0, end);
      if (available.length > 0) {
        const keptPart = available.subarray(0, keep - length);
        if (keptPart.length > 0) kept.push(keptPart);
        length += keptPart.length;
        isCut ||= keptPart.length < available.length;
      }
      if (end !== -1) {
        this.chunk = this.chunk.subarray(end + 1);
        return { bytes: Buffer.concat(kept), isCut };
      }
      const next = await this.chunks.next();
      // Bytes without a final delimiter are incomplete and dropped.
      if (next.done === true) return undefined;
      this.chunk = next.value;
    }
  }
}
