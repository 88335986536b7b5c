/**
 * Captured output of a command: in the order of arrival while it is short. Output that is too long to
 * show is written to an artifact, and both ends of each stream are shown apart, because a flood on one
 * stream would otherwise hide the other stream.
 *
 * Memory holds a few times `limit` characters for each stream, and the same in bytes until the
 * artifact is open. Each stream has its own decoder, because a character may be split between
 * chunks with a chunk of the other stream in between.
 */
import { Buffer } from 'node:buffer';
import { type Artifact, MAX_ARTIFACT_BYTES } from '../../protocol/tools/artifact.js';
import { lastCharacterEnd, truncateMiddle, truncateText } from '../text/truncate-text.js';
import { StreamEnds } from './stream-ends.js';

interface ShownOutput {
  readonly text: string;
  readonly truncated: boolean;
  /** Path of the file with all output, if some is left out. */
  readonly kept?: string | undefined;
}

export class CapturedOutput {
  bytes = 0;
  /** All output in the order of arrival, until it is too long. */
  private all: string | undefined = '';
  private latest: Stream = 'stdout';
  private readonly ends: Readonly<Record<Stream, StreamEnds>>;
  private unspilled: Uint8Array[] = [];
  private artifact: Artifact | undefined;
  private readonly held: Record<Stream, Uint8Array> = {
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
    this.ends = { stdout: new StreamEnds(limit), stderr: new StreamEnds(limit) };
  }

  add(stream: Stream, chunk: Uint8Array): void {
    this.bytes += chunk.length;
    this.keep(stream, chunk);
    this.append(stream, this.decoders[stream].decode(chunk, { stream: true }));
    if (this.all === undefined) this.spill();
  }

  /**
   * Holds back an incomplete character, because a chunk of the other stream may come in between.
   */
  private keep(stream: Stream, chunk: Uint8Array): void {
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
    return this.ends[this.latest].lastLine;
  }

  /**
   * Ends the capture. Returns all output, or both ends of each stream with markers, in at most `room`
   * characters.
   */
  async close(room: number): Promise<ShownOutput> {
    for (const stream of STREAMS) this.append(stream, this.decoders[stream].decode());
    if (this.all !== undefined && this.all.length <= room) {
      return { text: this.all, truncated: false };
    }
    const saved = await this.saveRest();
    const kept = this.artifact?.path;
    const used = STREAMS.filter((stream) => this.ends[stream].characters > 0);
    if (used.length < STREAMS.length) {
      const text = STREAMS.map((stream) => this.ends[stream].text).join('');
      return { text: truncateMiddle(text, `\n\n[… ${saved} …]\n\n`, room), truncated: true, kept };
    }
    return { text: this.apart(saved, room), truncated: true, kept };
  }

  /** Returns both streams one after the other. A short stream leaves its space to the other stream. */
  private apart(saved: string, room: number): string {
    const { stdout, stderr } = this.ends;
    const intro = `[${saved}. The two streams are shown one after the other.]\n\n`;
    const headings = STREAMS.map((stream) => headingOf(stream, this.ends[stream]));
    const left = Math.max(0, room - intro.length - headings.join('').length - 2);
    const half = Math.floor(left / 2);
    const shares = {
      stdout: Math.max(half, left - stderr.characters),
      stderr: Math.max(half, left - stdout.characters),
    };
    const [first, second] = STREAMS.map((stream, at) => {
      return `${headings[at]}${shortened(this.ends[stream], shares[stream])}`;
    });
    return truncateText(`${intro}${first}${first?.endsWith('\n') ? '\n' : '\n\n'}${second}`, room);
  }

  private append(stream: Stream, text: string): void {
    if (text !== '') this.latest = stream;
    this.ends[stream].append(text);
    if (this.all === undefined) return;
    this.all = this.all.length + text.length > this.limit ? undefined : this.all + text;
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

type Stream = 'stdout' | 'stderr';
const STREAMS: readonly Stream[] = ['stdout', 'stderr'];

const headingOf = (stream: Stream, { characters }: StreamEnds): string =>
  `[${stream}, ${characters} characters]\n`;

const shortened = (ends: StreamEnds, room: number): string =>
  ends.characters <= room
    ? ends.text
    : truncateMiddle(ends.text, '\n\n[… the middle is left out …]\n\n', room);
