/**
 * Captured output of a command: keeps both ends in the order of arrival, and writes all of it to an
 * artifact once it is too long to show.
 *
 * Memory holds at most `limit` characters of the two ends, and the same again in bytes until the
 * artifact is open. Each stream has its own decoder, because a character may be split between
 * chunks with a chunk of the other stream in between.
 */
import { Buffer } from 'node:buffer';
import { type Artifact, MAX_ARTIFACT_BYTES } from '../../protocol/tools/artifact.js';
import { keepEnd, lastCharacterEnd, truncateMiddle, truncateText } from '../text/truncate-text.js';

interface ShownOutput {
  readonly text: string;
  readonly truncated: boolean;
  /** Path of the file with all output, if some is left out. */
  readonly kept?: string | undefined;
}

export class CapturedOutput {
  bytes = 0;
  private characters = 0;
  private head = '';
  private tail = '';
  private unspilled: Uint8Array[] = [];
  private artifact: Artifact | undefined;
  private readonly held: Record<'stdout' | 'stderr', Uint8Array> = {
    stdout: new Uint8Array(),
    stderr: new Uint8Array(),
  };
  private readonly decoders = {
    stdout: new TextDecoder('utf-8', { ignoreBOM: true }),
    stderr: new TextDecoder('utf-8', { ignoreBOM: true }),
  };
  private readonly limit: number;
  private readonly openArtifact: () => Artifact;

  constructor(limit: number, openArtifact: () => Artifact) {
    this.limit = limit;
    this.openArtifact = openArtifact;
  }

  add(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    this.bytes += chunk.length;
    this.keep(stream, chunk);
    this.append(this.decoders[stream].decode(chunk, { stream: true }));
    if (this.characters > this.limit) this.spill();
  }

  /**
   * Holds back an incomplete character, because a chunk of the other stream may come in between.
   */
  private keep(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.held[stream], chunk]);
    const end = lastCharacterEnd(bytes);
    this.held[stream] = bytes.subarray(end);
    this.write(bytes.subarray(0, end));
  }

  private write(bytes: Uint8Array): void {
    if (this.artifact === undefined) this.unspilled.push(bytes);
    else this.artifact.write(bytes);
  }

  get lastLine(): string {
    const recent = (this.tail || this.head).trimEnd();
    return keepEnd(recent.slice(recent.lastIndexOf('\n') + 1), 200);
  }

  /**
   * Ends the capture. Returns all output, or both ends and a marker in at most `room` characters.
   */
  async close(room: number): Promise<ShownOutput> {
    this.append(this.decoders.stdout.decode());
    this.append(this.decoders.stderr.decode());
    const all = this.head + this.tail;
    if (this.characters <= room) return { text: all, truncated: false };
    const marker = `\n\n[… ${await this.saveRest()} …]\n\n`;
    const kept = this.artifact?.path;
    return { text: truncateMiddle(all, marker, room), truncated: true, kept };
  }

  private append(text: string): void {
    const half = Math.ceil(this.limit / 2);
    this.characters += text.length;
    const missing = this.tail === '' ? half - this.head.length : 0;
    const first = truncateText(text, Math.max(0, missing));
    this.head += first;
    this.tail += text.slice(first.length);
    if (this.tail.length > 4 * half) this.tail = keepEnd(this.tail, 2 * half);
  }

  private spill(): Artifact {
    this.artifact ??= this.openArtifact();
    for (const chunk of this.unspilled.splice(0)) this.artifact.write(chunk);
    return this.artifact;
  }

  private async saveRest(): Promise<string> {
    const artifact = this.spill();
    for (const rest of Object.values(this.held)) artifact.write(rest);
    const size = `${this.bytes} bytes in all, the middle is left out here`;
    try {
      await artifact.close();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return `${size}, and it could not be kept: ${why}`;
    }
    const kept =
      this.bytes > MAX_ARTIFACT_BYTES
        ? `the first ${MAX_ARTIFACT_BYTES} bytes are`
        : 'all of it is';
    return `${size}; ${kept} in ${artifact.path}, which Read can open`;
  }
}
