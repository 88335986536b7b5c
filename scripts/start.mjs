/** `npm start`: the interactive session where there is a key, else the demonstration; from whatever state the clone is in. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled } from './installed.mjs';

const root = join(import.meta.dirname, '..');
await ensureInstalled(root);
await ensureBuilt(root);

const { ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN } = process.env;
const given = process.argv.slice(2);
// Without a terminal the session takes lines; a bare command would take all of stdin for one prompt.
const session = given.length > 0 || process.stdin.isTTY ? given : ['--plain'];
const args = ANTHROPIC_API_KEY || ANTHROPIC_AUTH_TOKEN ? session : ['demo', ...given];

// In this very process, so that signals, the terminal and the exit code are the command's own.
const command = join(root, 'dist/skein.js');
process.argv = [process.execPath, command, ...args];
await import(pathToFileURL(command).href);
