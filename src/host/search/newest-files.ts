/** Newest files: keeps the newest of any number of files, and counts all. */

interface DatedFile {
  readonly path: string;
  readonly mtimeMs: number;
}

export class NewestFiles {
  total = 0;
  private files: DatedFile[] = [];
  private readonly maxFiles: number;

  constructor(maxFiles: number) {
    this.maxFiles = maxFiles;
  }

  add(path: string, mtimeMs: number): void {
    this.total += 1;
    this.files.push({ path, mtimeMs });
    if (this.files.length >= 2 * this.maxFiles) this.sort();
  }

  /** Returns the paths, newest first, files of equal age by path. */
  paths(): readonly string[] {
    this.sort();
    return this.files.map(({ path }) => path);
  }

  private sort(): void {
    this.files.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1));
    this.files.length = Math.min(this.files.length, this.maxFiles);
  }
}
