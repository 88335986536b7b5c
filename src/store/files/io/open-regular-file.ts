/** Opens regular files only, because opening a pipe could block forever. */
import fs from 'node:fs';

/** Throws an error with the code `not a regular file` for pipes, folders and devices. */
export const openRegularFile = (path: string, flags: number = fs.constants.O_RDONLY): number => {
  const fd = fs.openSync(path, flags | fs.constants.O_NONBLOCK, 0o600);
  if (fs.fstatSync(fd).isFile()) return fd;
  fs.closeSync(fd);
  throw Object.assign(new Error(`${path} is not a regular file`), { code: 'not a regular file' });
};

export const readRegularFile = (path: string): Buffer => {
  const fd = openRegularFile(path);
  try {
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
};
