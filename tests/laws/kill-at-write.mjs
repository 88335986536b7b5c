/**
 * Preloaded into a skein process: kills it with SIGKILL at its n-th write to a journal. KILL_AT
 * counts from 1. KILL_WHEN is `before` the write, `torn` in the middle, or `after` the write.
 * Without KILL_AT it only counts, and writes the number to KILL_COUNT_FILE.
 */
import fs from 'node:fs';

const { KILL_AT, KILL_WHEN, KILL_COUNT_FILE } = process.env;
const write = fs.writeSync;
let writes = 0;

const die = () => {
  process.kill(process.pid, 'SIGKILL');
  // No other code may run until the signal arrives.
  for (;;);
};

fs.writeSync = (fd, bytes, offset, length, position) => {
  if (!/\/agents\/[^/]+\.jsonl$/.test(fs.readlinkSync(`/proc/self/fd/${fd}`))) {
    return write(fd, bytes, offset, length, position);
  }
  writes += 1;
  if (KILL_COUNT_FILE) fs.writeFileSync(KILL_COUNT_FILE, String(writes));
  if (writes !== Number(KILL_AT)) return write(fd, bytes, offset, length, position);
  if (KILL_WHEN === 'torn') write(fd, bytes, offset, Math.floor(length / 2), position);
  if (KILL_WHEN === 'after') write(fd, bytes, offset, length, position);
  return die();
};
