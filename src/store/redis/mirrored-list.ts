/** A list in Redis, copied line by line to a file that is only ever appended to. */
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
    this.file ??= await this.begin();
    for await (const lines of piecesOf(this.broker, this.keys, this.list, this.count)) {
      this.file.append(lines.map((line) => `${line}\n`).join(''));
      this.count += lines.length;
      for (const line of lines) told(line);
    }
  }

  close(): void {
    this.file?.close();
    this.file = undefined;
  }

  /** A copy that does not fit has what Redis has lost: it is put aside, and made again. */
  private async begin(): Promise<LineFile> {
    let last = '';
    this.count = 0;
    for (const line of linesOf(this.path)) {
      last = line;
      this.count += 1;
    }
    if (this.count > 0) {
      const there = await this.broker.call('LINDEX', this.list, this.count - 1);
      const line =
        typeof there === 'string' ? await wholeLine(this.broker, this.keys, there) : undefined;
      if (line !== last) {
        fs.renameSync(this.path, freeName(`${this.path}.lost`));
        this.count = 0;
      }
    }
    return new LineFile(this.path, this.open);
  }
}

const freeName = (path: string): string => {
  let name = path;
  for (let number = 2; fs.existsSync(name); number += 1) name = `${path}-${number}`;
  return name;
};
