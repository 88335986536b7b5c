/** A folder as text: paths, modes and contents, empty folders included. Git keeps neither modes nor empty folders. */
import { chmod, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface StoredEntry {
  /** Path inside the folder. A folder ends with a slash. */
  readonly path: string;
  /** Permission bits in octal. */
  readonly mode: string;
  /** UTF-8 text of a file. Undefined for a folder. */
  readonly content?: string;
}

/** Throws if the folder has a link, a socket or a file that is not UTF-8. */
export const readFolderState = async (folder: string): Promise<readonly StoredEntry[]> => {
  const entries: StoredEntry[] = [];
  for (const path of (await readdir(folder, { recursive: true })).sort()) {
    const found = await lstat(join(folder, path));
    const mode = (found.mode & 0o777).toString(8);
    if (found.isDirectory()) entries.push({ path: `${path}/`, mode });
    else if (found.isFile())
      entries.push({ path, mode, content: await textOf(join(folder, path)) });
    else throw new Error(`${path} is neither a file nor a folder`);
  }
  return entries;
};

/** Fills an empty folder. Parents come before their content, as `readFolderState` sorts paths. */
export const writeFolderState = async (
  folder: string,
  entries: readonly StoredEntry[],
): Promise<void> => {
  for (const { path, mode, content } of entries) {
    const place = join(folder, path);
    if (content === undefined) await mkdir(place);
    else await writeFile(place, content);
    await chmod(place, Number.parseInt(mode, 8));
  }
};

const textOf = async (file: string): Promise<string> => {
  const bytes = await readFile(file);
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) throw new Error(`${file} is not UTF-8`);
  return text;
};
