/**
 * Files with the code that V8 compiled from the program: a line with the checksums of program and code, then the code.
 *
 * The build writes a file beside the program, for its version of Node. For other versions the program keeps a file of
 * its own in SKEIN_HOME/cache/code. V8 runs the code unverified, so a kept file and its folder must belong to the user,
 * and no other user may open them.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { crc32 } from 'node:zlib';

/** Path of the code that the build wrote for this version of Node. */
export const builtCodeFile = (dist: string): string =>
  join(dist, `program-${process.version}-${process.arch}.cache`);

export interface KeptCode {
  readonly skeinHome: string;
  readonly folder: string;
  readonly file: string;
}

/**
 * Returns the path of the kept code of a program. Another program, version of Node or set of V8 flags has another
 * file. Returns undefined on systems whose files have no owner.
 */
export const keptCodeOf = (programSum: number): KeptCode | undefined => {
  if (process.geteuid === undefined) return undefined;
  const { version, arch, env, execArgv } = process;
  const home = resolve(env.HOME || homedir());
  const { SKEIN_HOME = '' } = env;
  const skeinHome = /^~(\/|$)/.test(SKEIN_HOME)
    ? resolve(home, SKEIN_HOME.slice(2))
    : resolve(SKEIN_HOME || join(home, '.skein'));
  const folder = join(skeinHome, 'cache', 'code');
  const flags = crc32([env.NODE_OPTIONS ?? '', ...execArgv].join('\n'));
  const name = [programSum.toString(16), version, arch, flags.toString(16)].join('-');
  return { skeinHome, folder, file: join(folder, `${name}.cache`) };
};

/** Returns the first line of the file. `programSum` is the checksum of the program. */
export const headerOf = (programSum: number, code: Buffer): string =>
  `${programSum} ${crc32(code)}\n`;

/** Returns the code that the build wrote, or undefined if it is missing, damaged or of another program. */
export const readBuiltCode = (file: string, programSum: number): Buffer | undefined => {
  try {
    return verifiedCode(readFileSync(file), programSum);
  } catch {
    return undefined;
  }
};

/** Returns the kept code, or undefined if it is missing, damaged, of another program or not private. */
export const readKeptCode = (
  { folder, file }: KeptCode,
  programSum: number,
): Buffer | undefined => {
  let handle: number | undefined;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    if (!isPrivate(fstatSync(handle)) || !isPrivateFolder(folder)) return undefined;
    return verifiedCode(readFileSync(handle), programSum);
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
};

/** Throws if the folder does not exist. */
export const isPrivateFolder = (folder: string): boolean => {
  const stat = lstatSync(folder);
  return stat.isDirectory() && isPrivate(stat);
};

const isPrivate = ({ uid, mode }: Stats): boolean =>
  uid === process.geteuid?.() && (mode & 0o077) === 0;

/** V8 compares only the length of the program, does not verify the code, and crashes on damaged code. */
const verifiedCode = (file: Buffer, programSum: number): Buffer | undefined => {
  const code = file.subarray(file.indexOf('\n') + 1);
  const header = file.toString('latin1', 0, file.length - code.length);
  return header === headerOf(programSum, code) ? code : undefined;
};
