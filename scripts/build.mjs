/**
 * Bundles the command line and the library into dist/, with the types of the library.
 *
 * - `skein.cjs` is the command: it compiles `program.cjs` with the code that V8 cached (scripts/code-cache.mjs).
 * - `keep-code.cjs` is loaded only on a version of Node for which the build wrote no code.
 * - `program.cjs` is the whole program in CommonJS, because Node 20 caches no code of ES modules. A module that
 *   is imported on demand is evaluated on demand.
 * - `redis.cjs` and `screen.cjs` are packages that few commands need.
 * - `sdk.js` and its chunks are the library, as ES modules.
 */
import { execFile } from 'node:child_process';
import { chmod, cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import Module, { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import {
  onlyEnglish,
  plainCrypto,
  separatePackages,
  synchronousInk,
  withSharedNamespaces,
} from './bundle-plugins.mjs';
import { writeCodeCache } from './code-cache.mjs';
import { deferModules } from './deferred-modules.mjs';
import { inputsDigest, STAMP } from './installed.mjs';

/** File with the modules of each bundled file, for tests of what a start loads. */
const CONTENTS = '.contents.json';

/** Packages that few commands need, by the file that holds them. */
const SEPARATE = {
  'redis.cjs': ['bullmq', 'ioredis'],
  'screen.cjs': ['ink', 'react', 'react/jsx-runtime'],
};

/** Writes only the type files that the library needs. tsc writes those of all sources. */
const writeTypes = async (outdir) => {
  const tsc = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  const all = `${outdir}/all-types`;
  const args = [tsc, '-p', 'tsconfig.types.json', '--outDir', all];
  await promisify(execFile)(process.execPath, args);
  const files = ['sdk/skein.d.ts'];
  // The list grows while it is walked.
  for (const file of files) {
    const text = await readFile(join(all, file), 'utf8');
    await cp(join(all, file), join(outdir, 'types', file));
    for (const [, target] of text.matchAll(/from '(\.[^']+)\.js'/g)) {
      const next = join(dirname(file), `${target}.d.ts`);
      if (!files.includes(next)) files.push(next);
    }
  }
  await rm(all, { recursive: true });
};

/** Computes the schemas of tools and the built-in agents at build time, with the code of the start. */
const prepare = async (outdir) => {
  const outfile = resolve(outdir, 'prepare.mjs');
  await build({
    stdin: {
      contents: `export { builtinTools } from './src/tools/builtin-tools.ts';
        export { toolbox } from './src/tools/toolbox.ts';
        export { parseAgentDefinition } from './src/config/agents/parse-agent-definition.ts';`,
      resolveDir: process.cwd(),
    },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    banner: { js: REQUIRE },
  });
  try {
    const { builtinTools, toolbox, parseAgentDefinition } = await import(
      pathToFileURL(outfile).href
    );
    const wire = toolbox(builtinTools).wireTools();
    return {
      schemas: Object.fromEntries(wire.map((tool) => [tool.name, tool.input_schema])),
      agents: await builtinAgents(parseAgentDefinition),
    };
  } finally {
    await rm(outfile);
  }
};

const builtinAgents = async (parseAgentDefinition) => {
  const files = (await readdir('agents')).filter((name) => name.endsWith('.md')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join('agents', file), 'utf8');
      const { path: _path, ...agent } = parseAgentDefinition(text, {
        path: `agents/${file}`,
        source: 'builtin',
      });
      // A hook has functions, which JSON cannot contain.
      const isPlain = agent.fix === undefined && agent.hooks.length === 0;
      if (!isPlain || agent.warnings.length > 0)
        throw new Error(`agents/${file}: ${JSON.stringify(agent)}`);
      return { ...agent, file };
    }),
  );
};

/** Bytes of each module in each file of the bundle: `{ 'chunks/a.js': { 'src/lib/b.ts': 120 } }`. */
const contentsOf = ({ outputs }, outdir) =>
  Object.fromEntries(
    Object.entries(outputs).map(([file, { inputs }]) => [
      relative(outdir, file),
      Object.fromEntries(Object.entries(inputs).map(([name, part]) => [name, part.bytesInOutput])),
    ]),
  );

/** Bundled CommonJS packages still call require() for Node's own modules. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

// Computed first, so that a change during the build causes another build.
const digest = inputsDigest(process.cwd());
const { version } = JSON.parse(await readFile('package.json', 'utf8'));
// Builds in another folder and renames it, so that `dist` is missing for a short time only.
const outdir = `dist.${process.pid}`;
const { schemas, agents } = await prepare(outdir);

const COMMON = {
  outdir,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  // Names are not minified, so that stack traces are readable.
  minifySyntax: true,
  minifyWhitespace: true,
  jsx: 'automatic',
  define: {
    // Without it, React would run its development checks at every frame.
    'process.env.NODE_ENV': '"production"',
    SKEIN_VERSION: JSON.stringify(version),
    BUILTIN_SCHEMAS: JSON.stringify(schemas),
    BUILTIN_AGENTS: JSON.stringify(agents),
  },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};

const library = await build({
  ...COMMON,
  entryPoints: { sdk: 'src/sdk/skein.ts' },
  splitting: true,
  format: 'esm',
  chunkNames: 'chunks/[name]-[hash]',
  banner: { js: REQUIRE },
  plugins: [onlyEnglish],
});

const COMMON_JS = {
  ...COMMON,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  banner: { js: "const URL_OF_BUNDLE = require('node:url').pathToFileURL(__filename).href;" },
  // `import()` of a package becomes a require(), because the loader of ES modules takes 10 ms to start.
  supported: { 'dynamic-import': false },
  define: {
    ...COMMON.define,
    'import.meta.url': 'URL_OF_BUNDLE',
    'import.meta.dirname': '__dirname',
    // zod would load the module of this global to recognise Cloudflare.
    navigator: 'undefined',
  },
};

const program = await build({
  ...COMMON_JS,
  entryPoints: {
    program: 'src/cli/main.ts',
    skein: 'src/cli/launch.ts',
    'keep-code': 'src/cli/compiled-code/keep-code.ts',
    watchdog: 'src/host/process/ownership/watchdog.ts',
    'shard-thread': 'src/actors/checkpoints/shard-thread.ts',
  },
  plugins: [onlyEnglish, separatePackages(SEPARATE), plainCrypto, deferModules],
});

const packages = await Promise.all(
  Object.entries(SEPARATE).map(([file, names]) => {
    const members = names.map(
      (name) => `get ${JSON.stringify(name)}() { return require('${name}'); }`,
    );
    const contents = `module.exports = { ${members.join(', ')} };`;
    const stdin = { contents, resolveDir: process.cwd() };
    const outfile = join(outdir, file);
    const { outdir: _outdir, outExtension: _extension, ...options } = COMMON_JS;
    return build({ ...options, stdin, outfile, plugins: [synchronousInk] });
  }),
);

const bundles = [library, program, ...packages];
const contents = Object.assign({}, ...bundles.map(({ metafile }) => contentsOf(metafile, outdir)));
await writeFile(join(outdir, CONTENTS), JSON.stringify(contents));
await writeTypes(outdir);
await chmod(`${outdir}/skein.cjs`, 0o755);
// Wrapped as Node wraps a module: the launcher would otherwise need another copy of the text in memory.
const text = await readFile(`${outdir}/program.cjs`, 'utf8');
await writeFile(`${outdir}/program.cjs`, Module.wrap(withSharedNamespaces(text)));
await writeCodeCache(outdir);
await rm('dist', { recursive: true, force: true });
await rename(outdir, 'dist');
await writeFile(STAMP, digest);
