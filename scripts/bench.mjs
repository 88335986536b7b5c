/** `npm run bench`: measures the figures of docs/benchmarks.md. Installs and builds first if needed. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled } from './installed.mjs';

const root = join(import.meta.dirname, '..');
await ensureInstalled(root);
await ensureBuilt(root);

const args = ['--import', 'tsx', 'bench/main.ts', ...process.argv.slice(2)];
const bench = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
// Ctrl-C reaches the whole process group, so the bench cleans up and ends by itself.
process.on('SIGINT', () => {});
bench.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
