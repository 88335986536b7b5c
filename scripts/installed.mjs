/**
 * Makes a clone ready to run: dependencies of the lockfile, and a bundle of the current sources.
 * Imports Node's own modules only, because it runs before anything is installed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** True if node_modules has every package of the lockfile, with its version and for this platform. */
export const isInstalled = (root) => {
  const required = packagesOf(join(root, 'package-lock.json'));
  const present = packagesOf(join(root, 'node_modules/.package-lock.json'));
  if (required === undefined || present === undefined) return false;
  return Object.entries(required).every(([path, entry]) => {
    if (path === '') return true;
    const found = present[path];
    // npm leaves out optional packages that are made for other platforms.
    if (found === undefined) return entry.optional === true;
    const same = found.version === entry.version && sameBytes(found, entry);
    return same && runsHere(found) && existsSync(join(root, path));
  });
};

/** The lockfile lacks the digest of some packages (scripts/complete-lockfile.mjs). */
const sameBytes = (found, entry) =>
  entry.integrity === undefined || found.integrity === entry.integrity;

const packagesOf = (lockfile) => {
  try {
    return JSON.parse(readFileSync(lockfile, 'utf8')).packages;
  } catch {
    return undefined; // The file is missing or damaged.
  }
};

/** False for a package that another system has installed in a shared node_modules. */
const runsHere = ({ os = [], cpu = [] }) => fits(os, process.platform) && fits(cpu, process.arch);

const fits = (list, name) =>
  !list.includes(`!${name}`) &&
  (list.includes(name) || list.every((item) => item === 'any' || item.startsWith('!')));

const BUILD_SCRIPTS = [
  'scripts/build.mjs',
  'scripts/bundle-plugins.mjs',
  'scripts/code-cache.mjs',
  'scripts/deferred-modules.mjs',
  'scripts/save-code.cjs',
];

/** File with the digest of the inputs of the build. */
export const STAMP = 'dist/.inputs';

/** Returns a digest of all inputs of the bundle, by content, because a checkout changes file times. */
export const inputsDigest = (root) => {
  const sources = ['src', 'agents']
    .flatMap((name) => readdirSync(join(root, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const others = [...BUILD_SCRIPTS, 'package.json', 'package-lock.json'];
  const configs = ['tsconfig.json', 'tsconfig.types.json'];
  const hash = createHash('sha256').update(process.version);
  for (const file of [
    ...[...others, ...configs].map((name) => join(root, name)),
    ...sources.sort(),
  ]) {
    const bytes = readFileSync(file);
    hash.update(`\0${file.slice(root.length)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
};

export const isBuilt = (root) => {
  const [stamp, bundle] = [join(root, STAMP), join(root, 'dist/skein.cjs')];
  if (!existsSync(stamp) || !existsSync(bundle)) return false;
  return readFileSync(stamp, 'utf8') === inputsDigest(root);
};

export const ensureInstalled = async (root) => {
  if (isInstalled(root)) return;
  process.stderr.write('Installing dependencies (once)…\n');
  // Uses the npm that started this script, if any. Its `prepare` builds. NODE_ENV=production would omit the bundler.
  const npm = process.env.npm_execpath ?? '';
  const [command, args] = npm.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []];
  await run(root, command, [...args, 'ci', '--include=dev', '--loglevel=error']);
};

export const ensureBuilt = async (root) => {
  if (!isBuilt(root)) await run(root, process.execPath, ['scripts/build.mjs']);
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Runs a command without output. Ends this process with the same code or signal if the command fails. */
const run = (cwd, command, args) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
    const forward = (signal) => child.kill(signal);
    for (const signal of SIGNALS) process.on(signal, forward);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of SIGNALS) process.off(name, forward);
      if (signal !== null) process.kill(process.pid, signal);
      else if (code === 0) resolve();
      else process.exit(code);
    });
  });
