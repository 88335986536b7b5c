/**
 * How many files of lines may hold a descriptor at once. A session has a journal for each of perhaps a
 * thousand agents, and a process may have only so many: those that were not written for longest let go of
 * theirs, and open again when they are written.
 */
import fs from 'node:fs';

export interface PooledFile {
  /** Lets its descriptor go; false when it is needed just now. */
  rest(): boolean;
}

/** So many are never too many, and so many always are. */
const FEWEST = 128;
const MOST = 2_048;
/** Files looked at when one too many is open; those that are busy go to the end of the line. */
const LOOKS = 8;

export class DescriptorPool {
  private most: number;
  private isMeasured: boolean;
  /** Those that were used last are last. */
  private readonly files = new Set<PooledFile>();

  /** Left out, it is found out when it begins to matter. */
  constructor(most?: number) {
    this.most = most ?? FEWEST;
    this.isMeasured = most !== undefined;
  }

  use(file: PooledFile): void {
    this.files.delete(file);
    this.files.add(file);
    if (this.files.size <= this.most) return;
    if (!this.isMeasured) {
      this.isMeasured = true;
      this.most = aShareOfDescriptors();
    }
    if (this.files.size > this.most) this.restOne(file);
  }

  forget(file: PooledFile): void {
    this.files.delete(file);
  }

  private restOne(but: PooledFile): void {
    let looks = 0;
    for (const file of this.files) {
      if (looks === LOOKS) return;
      looks += 1;
      this.files.delete(file);
      if (file !== but && file.rest()) return;
      this.files.add(file);
    }
  }
}

/** A quarter of what the process may have: its sockets and children need the rest. */
const aShareOfDescriptors = (): number => {
  try {
    const limits = fs.readFileSync('/proc/self/limits', 'utf8');
    const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? MOST);
    return Math.min(MOST, Math.max(FEWEST, Math.floor(soft / 4)));
  } catch {
    // No Linux: systems without such a file allow some thousands.
    return MOST / 2;
  }
};
