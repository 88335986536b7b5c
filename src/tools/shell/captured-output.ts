/**
 * Keeps both ends of what a command prints, in the order in which it arrived, and spills all of it
 * to an artifact once it is too much to show.
 *
 * Memory stays far below the 200,000 bytes that each stream may take: at most `limit` characters of
 * the two ends, and the same again in bytes until the artifact is open. Each stream has a decoder
 * of its own, because a character may be split between chunks with the other stream in between.
 */
import { Buffer } from 'node:buffer';
import { ARTIFACT_LIMIT, type Artifact } from '../../protocol/tools/tool.js';
import { endOf, endOfCharacters, startOf, withoutMiddle } from '../truncation.js';

export interface ShownOutput {
  readonly text: string;
  readonly truncated: boolean;
  /** The file with all of it, where some is left out. */
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

  /** A character that is split between chunks is kept whole: the other stream may come between. */
  private keep(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.held[stream], chunk]);
    const end = endOfCharacters(bytes);
    this.held[stream] = bytes.subarray(end);
    this.write(bytes.subarray(0, end));
  }

  private write(bytes: Uint8Array): void {
    if (this.artifact === undefined) this.unspilled.push(bytes);
    else this.artifact.write(bytes);
  }

  get lastLine(): string {
    const recent = (this.tail || this.head).trimEnd();
    return endOf(recent.slice(recent.lastIndexOf('\n') + 1), 200);
  }

  /** Everything, or both ends and a marker in at most `room` characters. Ends the capture. */
  async close(room: number): Promise<ShownOutput> {
    this.append(this.decoders.stdout.decode());
    this.append(this.decoders.stderr.decode());
    const all = this.head + this.tail;
    if (this.characters <= room) return { text: all, truncated: false };
    const marker = `\n\n[… ${await this.whereTheRestIs()} …]\n\n`;
    const kept = this.artifact?.path;
    return { text: withoutMiddle(all, marker, room), truncated: true, kept };
  }

  private append(text: string): void {
    const half = Math.ceil(this.limit / 2);
    this.characters += text.length;
    const missing = this.tail === '' ? half - this.head.length : 0;
    const first = startOf(text, Math.max(0, missing));
    this.head += first;
    this.tail += text.slice(first.length);
    if (this.tail.length > 4 * half) this.tail = endOf(this.tail, 2 * half);
  }

  private spill(): Artifact {
    this.artifact ??= this.openArtifact();
    for (const chunk of this.unspilled.splice(0)) this.artifact.write(chunk);
    return this.artifact;
  }

  private async whereTheRestIs(): Promise<string> {
    const artifact = this.spill();
    for (const rest of Object.values(this.held)) artifact.write(rest);
    const size = `${this.bytes} bytes in all, the middle is left out here`;
    try {
      await artifact.close();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return `${size}, and it could not be kept: ${why}`;
    }
    const what =
      this.bytes > ARTIFACT_LIMIT ? `the first ${ARTIFACT_LIMIT} bytes are` : 'all of it is';
    return `${size}; ${what} in ${artifact.path}, which Read can open`;
  }
}
