/** Replaces a file in one step: others see the old contents or the new, never half. */
import fs from 'node:fs';
import { storageError } from '../journal/line-file.js';

export const writeAtomically = (path: string, content: string | Uint8Array): void => {
  const draft = `${path}.${process.pid}.draft`;
  try {
    fs.writeFileSync(draft, content, { mode: 0o600 });
    fs.renameSync(draft, path);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw storageError(error, path);
  }
};
