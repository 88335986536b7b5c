/** Opens files and nothing else: a pipe that lies where a file was would be waited for without end. */
import fs from 'node:fs';

export const openRegular = (path: string, flags: number = fs.constants.O_RDONLY): number => {
  const fd = fs.openSync(path, flags | fs.constants.O_NONBLOCK, 0o600);
  if (fs.fstatSync(fd).isFile()) return fd;
  fs.closeSync(fd);
  throw Object.assign(new Error(`${path} is not a regular file`), { code: 'not a regular file' });
};

export const readRegular = (path: string): Buffer => {
  const fd = openRegular(path);
  try {
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
};
