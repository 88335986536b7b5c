/**
 * Attacks control files from inside of a sandbox. Arguments: the folder of payloads, then pairs of a target and its
 * payload. Makes every attempt on every target and prints the attempts after which the target differs.
 */
import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const SCRATCH = 'scratch';
let count = 0;
/** Returns a path that no other attempt uses. */
const fresh = () => {
  count += 1;
  return join(SCRATCH, String(count));
};

const copyTree = (from, to) => fs.cpSync(from, to, { recursive: true, verbatimSymlinks: true });
const put = (payload, target) => {
  fs.mkdirSync(dirname(target), { recursive: true });
  fs.copyFileSync(payload, target);
};

/** Ways to change the file itself. */
const DIRECT = {
  copy: (target, payload) => fs.copyFileSync(payload, target),
  append: (target, payload) => fs.appendFileSync(target, fs.readFileSync(payload)),
  truncate: (target) => fs.truncateSync(target),
  'write in place': (target) => fs.writeSync(fs.openSync(target, 'r+'), 'x'),
  'remove and create': (target, payload) => {
    fs.rmSync(target, { recursive: true, force: true });
    put(payload, target);
  },
  'move away and create': (target, payload) => {
    fs.renameSync(target, fresh());
    put(payload, target);
  },
  'rename over': (target, payload) => {
    const copy = fresh();
    fs.copyFileSync(payload, copy);
    fs.renameSync(copy, target);
  },
  'rename a folder over': (target) => {
    const folder = fresh();
    fs.mkdirSync(folder);
    fs.renameSync(folder, target);
  },
  'hard link over': (target, payload) => {
    fs.rmSync(target);
    fs.linkSync(payload, target);
  },
  'write through a hard link': (target, payload) => {
    const link = fresh();
    fs.linkSync(target, link);
    fs.copyFileSync(payload, link);
  },
  'symbolic link': (target, payload) => fs.symlinkSync(resolve(payload), target),
  'symbolic link over': (target, payload) => {
    const link = fresh();
    fs.symlinkSync(resolve(payload), link);
    fs.renameSync(link, target);
  },
  'write through a symbolic link': (target, payload) => {
    const link = fresh();
    fs.symlinkSync(resolve(target), link);
    fs.copyFileSync(payload, link);
  },
  'create with parents': (target, payload) => put(payload, target),
  'change the mode': (target, payload) => {
    fs.chmodSync(dirname(target), 0o777);
    fs.chmodSync(target, 0o777);
    fs.copyFileSync(payload, target);
  },
  'through /proc': (target, payload) =>
    fs.copyFileSync(payload, `/proc/self/root${resolve(target)}`),
  'through a handle of the parent': (target, payload) => {
    const parent = fs.openSync(dirname(target), 'r');
    fs.copyFileSync(payload, `/proc/self/fd/${parent}/${target.split('/').at(-1)}`);
  },
  'other case': (target, payload) => put(payload, join(SCRATCH, '..', target.toUpperCase())),
  'dots in the path': (target, payload) =>
    put(payload, `${dirname(target)}/./${target.split('/').at(-1)}`),
};

/** Ways to replace a parent of the file. */
const REPLACING = {
  'rename and copy back': (target, payload, parent) => {
    const moved = fresh();
    fs.renameSync(parent, moved);
    copyTree(moved, parent);
    put(payload, target);
  },
  'rename and create': (target, payload, parent) => {
    fs.renameSync(parent, fresh());
    put(payload, target);
  },
  'rename a copy over': (target, payload, parent) => {
    const copy = fresh();
    copyTree(parent, copy);
    fs.renameSync(copy, parent);
    put(payload, target);
  },
  'rename and link': (target, payload, parent) => {
    const moved = fresh();
    const other = fresh();
    fs.renameSync(parent, moved);
    fs.mkdirSync(other);
    fs.symlinkSync(resolve(other), parent);
    put(payload, target);
  },
  'link to a copy': (target, payload, parent) => {
    const copy = fresh();
    copyTree(parent, copy);
    fs.rmdirSync(parent);
    fs.symlinkSync(resolve(copy), parent);
    put(payload, target);
  },
  'remove the folder': (target, payload, parent) => {
    fs.rmdirSync(parent);
    put(payload, target);
  },
  'file in place of the folder': (_, payload, parent) => fs.copyFileSync(payload, parent),
};

const stateOf = (path) => {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'missing';
  if (stats.isSymbolicLink()) return `link to ${fs.readlinkSync(path)}`;
  return stats.isDirectory()
    ? `folder of ${fs.readdirSync(path).join()}`
    : fs.readFileSync(path, 'utf8');
};

const stateOrProblem = (path) => {
  try {
    return stateOf(path);
  } catch (error) {
    return error.code;
  }
};

let attempts = 0;
const attempt = (name, target, action) => {
  const before = stateOrProblem(target);
  attempts += 1;
  try {
    action();
  } catch {
    // Most attempts are refused. The comparison below decides.
  }
  if (stateOrProblem(target) !== before) console.log(`CHANGED ${target}: ${name}`);
};

/** Parents that were attacked already. */
const attacked = new Set();
const [payloads, ...pairs] = process.argv.slice(2);
for (let index = 0; index < pairs.length; index += 2) {
  const target = pairs[index];
  const payload = join(payloads, pairs[index + 1]);
  for (const [name, way] of Object.entries(DIRECT))
    attempt(name, target, () => way(target, payload));
  for (let parent = dirname(target); parent !== '.'; parent = dirname(parent)) {
    if (attacked.has(parent)) continue;
    attacked.add(parent);
    for (const [name, way] of Object.entries(REPLACING)) {
      attempt(`${name}, ${parent}`, target, () => way(target, payload, parent));
    }
  }
}
console.log(`${attempts} attempts`);
