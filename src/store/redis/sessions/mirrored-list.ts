/** Copies a Redis list line by line to an append-only file. */
import { hash } from 'node:crypto';
import fs from 'node:fs';
import { freeName } from '../../files/io/free-name.js';
import type { DescriptorPool } from '../../files/journal/descriptor-pool.js';
import { LineFile } from '../../files/journal/line-file.js';
import { lastLineStart, linesOf } from '../../files/journal/line-tail.js';
import { seqOf } from '../../files/journal/unindexed-records.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import type { SwarmKeys } from '../connection/swarm-keys.js';
import { listLines } from '../journal/list-lines.js';

export class MirroredList {
  private readonly redis: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly list: string;
  private readonly path: string;
  private readonly descriptors: DescriptorPool;
  private file: LineFile | undefined;
  private count = 0;
  /** Digest of the last line. */
  private lastDigest = '';

  constructor(
    redis: RedisConnections,
    keys: SwarmKeys,
    list: string,
    path: string,
    descriptors: DescriptorPool,
  ) {
    this.redis = redis;
    this.keys = keys;
    this.list = list;
    this.path = path;
    this.descriptors = descriptors;
  }

  /**
   * True if the file lacks lines. Reads only the last line, because its record has the number of
   * the line.
   */
  async isBehind(): Promise<boolean> {
    const length = Number(await this.redis.call('LLEN', this.list));
    return seqOf(lastLineStart(this.path) ?? '') !== length;
  }

  /** Appends the missing lines to the file, and calls `onLine` for each of them. */
  async copy(onLine: (line: string) => void = () => {}): Promise<void> {
    this.file ??= this.openCopy();
    if (await this.appendNew(this.file, onLine)) return;
    this.file = this.startNewCopy();
    await this.appendNew(this.file, onLine);
  }

  close(): void {
    this.file?.close();
    this.file = undefined;
  }

  private openCopy(): LineFile {
    this.count = 0;
    let last = '';
    for (const line of linesOf(this.path)) {
      last = line;
      this.count += 1;
    }
    this.lastDigest = digestOf(last);
    return new LineFile(this.path, this.descriptors);
  }

  /** Returns false if the last line of the file is not at its position in the list. */
  private async appendNew(file: LineFile, onLine: (line: string) => void): Promise<boolean> {
    const { redis, keys, list } = this;
    let isMatched = this.count === 0;
    for await (const lines of listLines(redis, keys, list, Math.max(0, this.count - 1))) {
      if (!isMatched && digestOf(lines[0] ?? '') !== this.lastDigest) return false;
      const added = isMatched ? lines : lines.slice(1);
      isMatched = true;
      const last = added.at(-1);
      if (last === undefined) continue;
      file.append(added.map((line) => `${line}\n`).join(''));
      this.count += added.length;
      this.lastDigest = digestOf(last);
      for (const line of added) onLine(line);
    }
    return isMatched;
  }

  /** Keeps a file with lines that Redis has lost under another name, and starts a new copy. */
  private startNewCopy(): LineFile {
    this.close();
    fs.renameSync(this.path, freeName(lostPathOf(this.path)));
    return this.openCopy();
  }
}

/**
 * Returns a sentence if Redis has lost records that the copy at `path` has, or an earlier copy had.
 */
export const lossOf = (path: string, length: number): string | undefined => {
  const copied = seqOf(lastLineStart(path) ?? '') ?? 0;
  if (copied > length) return `Redis has lost ${copied - length} records that are in ${path}`;
  const lostPath = lostPathOf(path);
  return fs.existsSync(lostPath) ? `Redis has lost records that are in ${lostPath}` : undefined;
};

export const lostPathOf = (path: string): string => `${path}.lost`;

const digestOf = (line: string): string => hash('sha256', line);
