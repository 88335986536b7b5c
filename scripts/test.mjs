/** `npm test`: runs all tests. Installs and builds first if needed. Arguments go to vitest. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled } from './installed.mjs';

const root = join(import.meta.dirname, '..');
await ensureInstalled(root);
await ensureBuilt(root); // Tests run the bundled command.

// Under NODE_ENV=production libraries would leave out the checks that tests rely on.
process.env.NODE_ENV = 'test';
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
process.argv = [process.execPath, vitest, 'run', ...process.argv.slice(2)];
await import(pathToFileURL(vitest).href);
