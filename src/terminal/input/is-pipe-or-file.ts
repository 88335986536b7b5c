import { fstatSync } from 'node:fs';

/** True if the descriptor is a pipe, a socket or a file. */
export const isPipeOrFile = (fd: number): boolean => {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false;
  }
};
