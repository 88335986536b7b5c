#!/usr/bin/env node
/**
 * Entry of the `skein` command: runs the bundled program with the code that V8 compiled at the build
 * (scripts/code-cache.mjs). V8 compiles the program itself if there is no code for this version of Node and this
 * program, or if the code is damaged.
 */
import { readFileSync } from 'node:fs';
import { createRequire, wrap } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const folder = dirname(fileURLToPath(import.meta.url));

/** Returns the code that V8 compiled from the program, or undefined. */
const compiledCode = (program: Buffer): Buffer | undefined => {
  const { version, arch } = process;
  let file: Buffer;
  try {
    file = readFileSync(join(folder, `program-${version}-${arch}.cache`));
  } catch {
    return undefined;
  }
  const headerEnd = file.indexOf('\n');
  const code = file.subarray(headerEnd + 1);
  // V8 compares only the length of the program, does not verify the code, and crashes on damaged code.
  const header = `${crc32(program)} ${crc32(code)}`;
  return file.toString('latin1', 0, headerEnd) === header ? code : undefined;
};

const filename = join(folder, 'program.cjs');
const program = readFileSync(filename);
const code = compiledCode(program);
// The bundle is ASCII, which V8 keeps in one byte per character.
const script = new Script(wrap(program.toString('latin1')), {
  filename,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  ...(code !== undefined && { cachedData: code }),
});
const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(filename), module, filename, folder);
