/**
 * Preloaded into a skein process: kills it with SIGKILL at its n-th change of a file below KILL_BELOW
 * or of a journal. KILL_AT counts from 1. KILL_WHEN is `before` the change, `torn` in the middle of a
 * write, or `after` the change. Without KILL_AT it only counts, and writes the number to
 * KILL_COUNT_FILE.
 */
import fs from 'node:fs';

const { KILL_AT, KILL_WHEN, KILL_BELOW, KILL_COUNT_FILE } = process.env;
const { writeFileSync, readlinkSync } = fs;
let changes = 0;

const die = () => {
  process.kill(process.pid, 'SIGKILL');
  // No other code may run until the signal arrives.
  for (;;);
};

/** Returns the real path of a descriptor, or of a path that leads through a descriptor. */
const pathOf = (target) => {
  if (typeof target === 'number') return readlinkSync(`/proc/self/fd/${target}`);
  const [link] = /^\/proc\/self\/fd\/\d+/.exec(String(target)) ?? [];
  return link === undefined ? String(target) : String(target).replace(link, readlinkSync(link));
};

const isWatched = (path) =>
  path.startsWith(`${KILL_BELOW}/`) || /\/agents\/[^/]+\.jsonl$/.test(path);

/** Replaces a function of `node:fs`. `target` is the index of its path or descriptor. */
const wrap = (name, target = 0, tear) => {
  const real = fs[name];
  fs[name] = (...args) => {
    if (!isWatched(pathOf(args[target]))) return real(...args);
    changes += 1;
    if (KILL_COUNT_FILE) writeFileSync(KILL_COUNT_FILE, String(changes));
    if (changes !== Number(KILL_AT)) return real(...args);
    if (KILL_WHEN === 'after') real(...args);
    if (KILL_WHEN === 'torn' && tear !== undefined) real(...tear(args));
    return die();
  };
};

wrap('writeSync', 0, ([fd, bytes, offset, length, position]) => [
  fd,
  bytes,
  offset,
  Math.floor(length / 2),
  position,
]);
wrap('writeFileSync', 0, ([fd, bytes, ...rest]) => [
  fd,
  bytes.subarray(0, Math.floor(bytes.length / 2)),
  ...rest,
]);
wrap('symlinkSync', 1);
wrap('renameSync', 1);
for (const name of ['unlinkSync', 'rmdirSync', 'mkdirSync', 'fchmodSync']) wrap(name);
