/**
 * Runs `program.cjs` of the folder in the first argument like src/cli/launch.ts, with the other arguments, and writes
 * the code that V8 has compiled when the program ends. Called by scripts/code-cache.mjs.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { constants, Script } = require('node:vm');
const { crc32 } = require('node:zlib');

const [folder] = process.argv.splice(2, 1);
const filename = join(folder, 'program.cjs');
process.argv[1] = join(folder, 'skein.cjs');
const program = readFileSync(filename);
const script = new Script(program.toString('latin1'), {
  filename,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
process.on('exit', (exitCode) => {
  if (exitCode !== 0) return;
  const code = script.createCachedData();
  const header = Buffer.from(`${crc32(program)} ${crc32(code)}\n`);
  const { version, arch } = process;
  writeFileSync(join(folder, `program-${version}-${arch}.cache`), Buffer.concat([header, code]));
});
const module_ = { exports: {} };
script.runInThisContext()(module_.exports, createRequire(filename), module_, filename, folder);
