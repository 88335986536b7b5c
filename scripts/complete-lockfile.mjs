/**
 * Completes the lockfile after `npm install` of a new dependency. `npm ci` rejects a lockfile without the
 * optional packages of all platforms, and npm leaves out packages that the registry does not have (mirrors often
 * have one platform only). Adds them with the required version. npm checks the rest on installation.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const OS = /\b(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)\b/;
const CPU = /\b(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)\b/;
const LIBC = { musl: 'musl', musleabihf: 'musl', gnu: 'glibc', gnueabihf: 'glibc' };

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));

/** Derives the platform of a package from its name. */
const describe = (name, version, dev) => {
  const libc = name.split('-').flatMap((word) => LIBC[word] ?? []);
  const [os, cpu] = [OS.exec(name)?.[1], CPU.exec(name)?.[1]];
  if (cpu === undefined || !/^\d+\.\d+\.\d+/.test(version)) {
    throw new Error(
      `The platform of ${name}@${version} is unknown: add it to the lockfile by hand.`,
    );
  }
  return {
    version,
    cpu: [cpu],
    ...(dev ? { dev } : {}),
    ...(libc.length > 0 ? { libc } : {}),
    optional: true,
    ...(os === undefined ? {} : { os: [os] }),
  };
};

const missing = Object.values(lock.packages).flatMap(({ optionalDependencies = {}, dev }) =>
  Object.entries(optionalDependencies)
    .filter(([name]) => !(`node_modules/${name}` in lock.packages))
    .map(([name, version]) => [`node_modules/${name}`, describe(name, version, dev)]),
);
const byPath = ([a], [b]) => (a < b ? -1 : 1);
const packages = Object.entries(lock.packages).concat(missing).sort(byPath);
lock.packages = Object.fromEntries(packages);
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`Added ${missing.length} optional packages.\n`);
