/** A list in Redis, copied line by line to a file that is only ever appended to. */
import { hash } from 'node:crypto';
import fs from 'node:fs';
import type { DescriptorPool } from '../../files/journal/descriptor-pool.js';
import { LineFile } from '../../files/journal/line-file.js';
import { lastLineStart, linesOf } from '../../files/journal/line-tail.js';
import { seqOf } from '../../files/journal/unindexed-records.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import type { SwarmKeys } from '../connection/redis-keys.js';
import { piecesOf } from '../journal/long-lines.js';

export class MirroredList {
  private readonly broker: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly list: string;
  private readonly path: string;
  private readonly open: DescriptorPool;
  private file: LineFile | undefined;
  private count = 0;
  /** A digest of the last line. */
  private last = '';

  constructor(
    broker: RedisConnections,
    keys: SwarmKeys,
    list: string,
    path: string,
    open: DescriptorPool,
  ) {
    this.broker = broker;
    this.keys = keys;
    this.list = list;
    this.path = path;
    this.open = open;
  }

  /** Without reading the file: its last record has the number of the last line. */
  async isBehind(): Promise<boolean> {
    const length = Number(await this.broker.call('LLEN', this.list));
    return seqOf(lastLineStart(this.path) ?? '') !== length;
  }

  async copy(told: (line: string) => void = () => {}): Promise<void> {
    this.file ??= this.begin();
    if (await this.goOn(this.file, told)) return;
    this.file = this.putAside();
    await this.goOn(this.file, told);
  }

  close(): void {
    this.file?.close();
    this.file = undefined;
  }

  private begin(): LineFile {
    this.count = 0;
    let last = '';
    for (const line of linesOf(this.path)) {
      last = line;
      this.count += 1;
    }
    this.last = digestOf(last);
    return new LineFile(this.path, this.open);
  }

  /** False when its last line is not where it was in the list: it is read again with those behind it. */
  private async goOn(file: LineFile, told: (line: string) => void): Promise<boolean> {
    const { broker, keys, list } = this;
    let isKnown = this.count === 0;
    for await (const lines of piecesOf(broker, keys, list, Math.max(0, this.count - 1))) {
      if (!isKnown && digestOf(lines[0] ?? '') !== this.last) return false;
      const added = isKnown ? lines : lines.slice(1);
      isKnown = true;
      const last = added.at(-1);
      if (last === undefined) continue;
      file.append(added.map((line) => `${line}\n`).join(''));
      this.count += added.length;
      this.last = digestOf(last);
      for (const line of added) told(line);
    }
    return isKnown;
  }

  /** It has what Redis has lost: it is kept, and the copy is made again. */
  private putAside(): LineFile {
    this.close();
    fs.renameSync(this.path, freeName(asideOf(this.path)));
    return this.begin();
  }
}

/** Undefined when a copy shows no more than the list has, and never did. */
export const lossOf = (path: string, length: number): string | undefined => {
  const copied = seqOf(lastLineStart(path) ?? '') ?? 0;
  if (copied > length) return `Redis has lost ${copied - length} records that are in ${path}`;
  const aside = asideOf(path);
  return fs.existsSync(aside) ? `Redis has lost records that are in ${aside}` : undefined;
};

const asideOf = (path: string): string => `${path}.lost`;

const digestOf = (line: string): string => hash('sha256', line);

const freeName = (path: string): string => {
  let name = path;
  for (let number = 2; fs.existsSync(name); number += 1) name = `${path}-${number}`;
  return name;
};
