/** Writing what must survive the machine: the file first, and then the folder that names it. */
import fs from 'node:fs';

/** Fails when there is such a file already. */
export const writeSynced = async (path: string, text: string): Promise<void> => {
  const file = await fs.promises.open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** One that is gone by now needs nothing. */
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
