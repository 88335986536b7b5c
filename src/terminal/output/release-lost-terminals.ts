/**
 * Closes descriptors of a terminal that is gone. Node restores the mode of its terminals at exit, and aborts if
 * that fails because the terminal was closed. Node skips closed descriptors.
 */
import { closeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Returns the descriptors among stdin, stdout and stderr that are terminals now. */
export const standardTerminals = (): readonly number[] => [0, 1, 2].filter((fd) => isatty(fd));

/** Call at exit with the terminals of the start, after the last output. Never throws. */
export const releaseLostTerminals = (terminals: readonly number[]): void => {
  for (const fd of terminals) {
    if (isatty(fd)) continue;
    try {
      closeSync(fd);
    } catch {
      // The descriptor was closed before.
    }
  }
};
