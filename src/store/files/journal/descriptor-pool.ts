/**
 * Limits the number of open file descriptors. A session can have a thousand journals, and a process
 * has a limit of descriptors. The least recently written files close theirs and reopen it at the
 * next write.
 */
import fs from 'node:fs';

export interface PooledFile {
  /** Closes the descriptor. Returns false if it is in use. */
  releaseDescriptor(): boolean;
}

/** Lower and upper bound of the limit. */
const MIN_DESCRIPTORS = 128;
const MAX_DESCRIPTORS = 2_048;
/** Number of files that are tried when the limit is exceeded. Files in use go to the end. */
const MAX_TRIES = 8;

export class DescriptorPool {
  private max: number;
  private isMeasured: boolean;
  /** Most recently used files last. */
  private readonly files = new Set<PooledFile>();

  /** Default of `max`: a quarter of the process's limit, read when 128 files are open. */
  constructor(max?: number) {
    this.max = max ?? MIN_DESCRIPTORS;
    this.isMeasured = max !== undefined;
  }

  use(file: PooledFile): void {
    this.files.delete(file);
    this.files.add(file);
    if (this.files.size <= this.max) return;
    if (!this.isMeasured) {
      this.isMeasured = true;
      this.max = shareOfLimit();
    }
    if (this.files.size > this.max) this.releaseOldest(file);
  }

  forget(file: PooledFile): void {
    this.files.delete(file);
  }

  private releaseOldest(except: PooledFile): void {
    let tries = 0;
    for (const file of this.files) {
      if (tries === MAX_TRIES) return;
      tries += 1;
      this.files.delete(file);
      if (file !== except && file.releaseDescriptor()) return;
      this.files.add(file);
    }
  }
}

/**
 * Returns a quarter of the process's limit, because sockets and child processes need descriptors
 * too.
 */
const shareOfLimit = (): number => {
  try {
    const limits = fs.readFileSync('/proc/self/limits', 'utf8');
    const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? MAX_DESCRIPTORS);
    return Math.min(MAX_DESCRIPTORS, Math.max(MIN_DESCRIPTORS, Math.floor(soft / 4)));
  } catch {
    // Not Linux. Other systems allow some thousands.
    return MAX_DESCRIPTORS / 2;
  }
};
