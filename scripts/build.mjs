/** Bundles the command line into dist/. Heavy parts stay in chunks of their own, loaded when first needed. */
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { inputsDigest, STAMP } from './installed.mjs';

/** zod brings its messages in fifty languages, a third of the bundle; ours are in one. */
const onlyEnglish = {
  name: 'only-english',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: resolve('node_modules/zod/v4/locales'),
    }));
  },
};

// Taken first: what changes during the build makes the next start build again.
const digest = inputsDigest(process.cwd());
const { version } = JSON.parse(await readFile('package.json', 'utf8'));
// Built aside and moved into place, so that a program that is being run is not pulled away for long.
const outdir = `dist.${process.pid}`;
await build({
  entryPoints: { skein: 'src/cli/main.ts', watchdog: 'src/host/watchdog.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  chunkNames: 'chunks/[name]-[hash]',
  // Names stay, for stacks that people can read.
  minifySyntax: true,
  minifyWhitespace: true,
  plugins: [onlyEnglish],
  define: { SKEIN_VERSION: JSON.stringify(version) },
  legalComments: 'none',
  banner: {
    // Bundled CommonJS packages still call require() for Node's own modules.
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod(`${outdir}/skein.js`, 0o755);
await rm('dist', { recursive: true, force: true });
await rename(outdir, 'dist');
await writeFile(STAMP, digest);
