/**
 * `npm run test:fast`: the tests that start no process and need no Redis, terminal or bundle
 * (tests/setup/fast-tests.ts). `npm run coverage` measures them. Arguments go to vitest.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled } from './installed.mjs';

const root = join(import.meta.dirname, '..');
await ensureInstalled(root);

// Under NODE_ENV=production libraries would leave out the checks that tests rely on.
process.env.NODE_ENV = 'test';
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const config = join(root, 'vitest.fast.config.ts');
process.argv = [process.execPath, vitest, 'run', '--config', config, ...process.argv.slice(2)];
await import(pathToFileURL(vitest).href);
