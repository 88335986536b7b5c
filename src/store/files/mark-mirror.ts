/** `redis.json` marks a session folder as a copy of a session in Redis. */
import fs from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../protocol/skein-error.js';
import { storageError } from '../shared/storage-error.js';
import { replaceStoredFile } from './io/replace-stored-file.js';

const NAME = 'redis.json';

/** True if the folder is a copy of a session in Redis. */
export const isMirror = (folder: string): boolean => fs.existsSync(join(folder, NAME));

/** Throws UsageError if the folder is a copy of a session in Redis. */
export const refuseMirror = (folder: string, id: string): void => {
  if (!isMirror(folder)) return;
  throw new UsageError(
    `Session ${id} is in Redis, and ${folder} is a copy: set SKEIN_REDIS_URL to open it.`,
  );
};

/** Throws UsageError if the folder is a session of the embedded store. */
export const refuseFiles = (folder: string, id: string): void => {
  if (isMirror(folder) || !fs.existsSync(join(folder, 'session.json'))) return;
  throw new UsageError(`Session ${id} exists already as files in ${folder}; choose another id.`);
};

/** Creates the folder of a copy with its marker. Throws StorageError. */
export const markMirror = (folder: string, id: string, redis: string): void => {
  try {
    for (const name of ['agents', 'artifacts']) {
      fs.mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    }
  } catch (error) {
    throw storageError(error, folder);
  }
  replaceStoredFile(join(folder, NAME), JSON.stringify({ session: id, redis }, null, 2));
};
