/** `npm start`: the demonstration, from whatever state the clone is in. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled } from './installed.mjs';

const root = join(import.meta.dirname, '..');
await ensureInstalled(root);
await ensureBuilt(root);

// In this very process, so that signals, the terminal and the exit code are the command's own.
const command = join(root, 'dist/skein.js');
process.argv = [process.execPath, command, 'demo', ...process.argv.slice(2)];
await import(pathToFileURL(command).href);
