/** A list in Redis, copied line by line to a file that is only ever appended to. */
import { hash } from 'node:crypto';
import fs from 'node:fs';
import { seqOf } from '../event-lag.js';
import { LineFile } from '../line-file.js';
import { lastLineStart, linesOf } from '../line-tail.js';
import type { OpenFiles } from '../open-files.js';
import type { Broker } from './broker.js';
import type { SwarmKeys } from './redis-keys.js';
import { piecesOf, wholeLine } from './swarm-lines.js';

export class MirroredList {
  private readonly broker: Broker;
  private readonly keys: SwarmKeys;
  private readonly list: string;
  private readonly path: string;
  private readonly open: OpenFiles;
  private file: LineFile | undefined;
  private count = 0;
  /** A digest of the last line. */
  private last = '';

  constructor(broker: Broker, keys: SwarmKeys, list: string, path: string, open: OpenFiles) {
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
    let file = this.file ?? this.begin();
    if (!(await this.fits())) file = this.putAside();
    this.file = file;
    for await (const lines of piecesOf(this.broker, this.keys, this.list, this.count)) {
      file.append(lines.map((line) => `${line}\n`).join(''));
      this.count += lines.length;
      this.last = digestOf(lines.at(-1) ?? '');
      for (const line of lines) told(line);
    }
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

  /** Whether its last line is where it was in the list. */
  private async fits(): Promise<boolean> {
    if (this.count === 0) return true;
    const line = await this.broker.call('LINDEX', this.list, this.count - 1);
    if (typeof line !== 'string') return false;
    return digestOf(await wholeLine(this.broker, this.keys, line)) === this.last;
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
