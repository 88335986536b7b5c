/** `npm start`: starts a session, or the demo if there is no API key. Installs and builds first if needed. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled } from './installed.mjs';

const root = join(import.meta.dirname, '..');
await ensureInstalled(root);
await ensureBuilt(root);

const { ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN } = process.env;
const argv = process.argv.slice(2);
// Without a terminal, --plain reads lines. Without arguments, all of stdin would be a single prompt.
const session = argv.length > 0 || process.stdin.isTTY ? argv : ['--plain'];
const args = ANTHROPIC_API_KEY || ANTHROPIC_AUTH_TOKEN ? session : ['demo', ...argv];

// Runs in this process, so that the command gets the signals, the terminal and the exit code.
const command = join(root, 'dist/skein.cjs');
process.argv = [process.execPath, command, ...args];
await import(pathToFileURL(command).href);
