/** Creates files that survive a power cut: syncs the file, and then the folder that names it. */
import fs from 'node:fs';

/** Rejects with the code EEXIST if the file exists. */
export const writeSyncedFile = async (path: string, text: string): Promise<void> => {
  const file = await fs.promises.open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Syncs a folder. Ignores a missing folder. */
export const syncFolder = async (path: string): Promise<void> => {
  let folder: fs.promises.FileHandle | undefined;
  try {
    folder = await fs.promises.open(path, 'r');
    await folder.sync();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    await folder?.close();
  }
};
