#!/usr/bin/env node
/**
 * Entry of the `skein` command: runs the bundled program with code that V8 compiled earlier
 * (src/cli/compiled-code/kept-code.ts). Without such code V8 compiles the program itself, and the code is kept for
 * later starts.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import {
  builtCodeFile,
  keptCodeOf,
  readBuiltCode,
  readKeptCode,
} from './compiled-code/kept-code.js';

const folder = dirname(fileURLToPath(import.meta.url));
const filename = join(folder, 'program.cjs');
const require = createRequire(filename);
const program = readFileSync(filename);
const programSum = crc32(program);
const kept = keptCodeOf(programSum);
const code =
  (kept && readKeptCode(kept, programSum)) ?? readBuiltCode(builtCodeFile(folder), programSum);
// The bundle is ASCII, which V8 keeps in one byte per character, and wrapped as Node wraps a module.
const script = new Script(program.toString('latin1'), {
  filename,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  ...(code !== undefined && { cachedData: code }),
});
// V8 rejects the code of other flags, and of another V8 in the same version of Node.
if (kept !== undefined && script.cachedDataRejected !== false) {
  const { keepCode }: typeof import('./compiled-code/keep-code.js') = require('./keep-code.cjs');
  keepCode({ script, programSum, kept });
}
const module = { exports: {} };
script.runInThisContext()(module.exports, require, module, filename, folder);
