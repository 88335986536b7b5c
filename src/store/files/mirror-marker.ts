/** `redis.json` in the folder of a session: what is beside it is a copy, and the session is in Redis. */
import fs from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import { writeAtomically } from './io/write-atomically.js';
import { storageError } from './journal/line-file.js';

const NAME = 'redis.json';

const isMirror = (folder: string): boolean => fs.existsSync(join(folder, NAME));

/** Throws a UsageError when the session is kept elsewhere. */
export const refuseMirror = (folder: string, id: string): void => {
  if (!isMirror(folder)) return;
  throw new UsageError(
    `Session ${id} is in Redis, and ${folder} is a copy: set SKEIN_REDIS_URL to open it.`,
  );
};

/** The other way round: throws a UsageError when the folder is a session itself. */
export const refuseFiles = (folder: string, id: string): void => {
  if (isMirror(folder) || !fs.existsSync(join(folder, 'session.json'))) return;
  throw new UsageError(`Session ${id} exists already as files in ${folder}; choose another id.`);
};

export const markMirror = (folder: string, id: string, redis: string): void => {
  try {
    for (const name of ['agents', 'artifacts']) {
      fs.mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    }
  } catch (error) {
    throw storageError(error, folder);
  }
  writeAtomically(join(folder, NAME), JSON.stringify({ session: id, redis }, null, 2));
};
