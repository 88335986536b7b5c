/** Plugins of the bundler that change packages on their way into the bundle. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** Leaves out zod's messages in other languages, which would be a third of the bundle. */
export const onlyEnglish = {
  name: 'only-english',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: resolve('node_modules/zod/v4/locales'),
    }));
  },
};

/** Takes packages from files beside the bundle when they are first used: `{ 'redis.cjs': ['ioredis'] }`. */
export const separatePackages = (files) => ({
  name: 'separate-packages',
  setup({ onResolve, onLoad }) {
    for (const [file, names] of Object.entries(files)) {
      onResolve({ filter: new RegExp(`^(?:${names.join('|')})$`) }, ({ path }) => ({
        path,
        namespace: file,
      }));
      onLoad({ filter: /./, namespace: file }, ({ path }) => ({
        contents: `module.exports = require('./${file}')[${JSON.stringify(path)}];`,
      }));
      onResolve({ filter: new RegExp(`^\\./${file.replace('.', '\\.')}$`) }, ({ path }) => ({
        path,
        external: true,
      }));
    }
  },
});

const WASM = /base64,([\w+/=]{1000,})/;

/** Awaits in Ink that only its development tools need, whose package is not installed. */
const DEVTOOLS = [/await import\('\.\/devtools\.js'\);/, /await (?=loadPackageJson\(\))/];

/**
 * Loads Ink without a top-level await, which CommonJS lacks: leaves out its development tools, and compiles the
 * WebAssembly of Yoga, its layout engine, synchronously. Throws if a package no longer has the expected form.
 */
export const synchronousInk = {
  name: 'synchronous-ink',
  setup({ onLoad }) {
    onLoad({ filter: /ink\/build\/reconciler\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return { contents: DEVTOOLS.reduce((rest, part) => rest.replace(part, ''), text) };
    });
    onLoad(
      { filter: /yoga-layout\/dist\/binaries\/yoga-wasm-base64-esm\.js$/ },
      async ({ path }) => {
        const text = await readFile(path, 'utf8');
        const wasm = WASM.exec(text)?.[1];
        if (wasm === undefined) throw new Error(`${path} has no WebAssembly.`);
        const contents = `${text.replace(wasm, '')}\nexport const wasm = '${wasm}';\n`;
        return { contents };
      },
    );
    onLoad({ filter: /yoga-layout\/dist\/src\/index\.js$/ }, () => ({
      contents: `
        import load, { wasm } from '../binaries/yoga-wasm-base64-esm.js';
        import wrapAssembly from './wrapAssembly.js';
        // Emscripten adds its exports to this object, at once if the instance is handed over at once.
        const assembly = {
          instantiateWasm(imports, receive) {
            const instance = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(wasm, 'base64')), imports);
            receive(instance);
            return instance.exports;
          },
        };
        load(assembly);
        export default wrapAssembly(assembly);
        export * from './generated/YGEnums.js';`,
      resolveDir: resolve('node_modules/yoga-layout/dist/src'),
    }));
  },
};

const WEB_CRYPTO = /import \{ webcrypto as crypto \} from 'node:crypto'/;

/** Lets nanoid take random bytes from node:crypto, because the Web Crypto of Node takes 3 ms to load. */
export const plainCrypto = {
  name: 'plain-crypto',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/nanoid\/index\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!WEB_CRYPTO.test(text)) throw new Error(`${path} does not import webcrypto.`);
      const plain = `import { randomFillSync } from 'node:crypto'; const crypto = { getRandomValues: randomFillSync };`;
      return { contents: text.replace(WEB_CRYPTO, plain) };
    });
  },
};

const NEW_NAMESPACE = 'var __toESM=(mod,isNodeMode,target)=>(';

/**
 * Makes importers of a module share its namespace. The bundler's helper copies all exports for each importer, which
 * was 12,000 properties of `node:fs` and `node:crypto` at each start.
 */
export const withSharedNamespaces = (text) => {
  if (!text.includes(NEW_NAMESPACE))
    throw new Error('The bundler has another helper than __toESM.');
  const shared = `var __namespaces=[new Map,new Map],__toESM=(mod,isNodeMode)=>{
    let known=__namespaces[isNodeMode?1:0],namespace=known.get(mod);
    if(namespace===undefined)known.set(mod,namespace=__newNamespace(mod,isNodeMode));
    return namespace
  };`;
  return text.replace(NEW_NAMESPACE, `${shared}var __newNamespace=(mod,isNodeMode,target)=>(`);
};
