/**
 * Runs a command on the terminal of this process and writes how it ended, even if the terminal is closed:
 * `node record-exit.mjs <file> <command> [arguments…]`.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [file, command, ...args] = process.argv.slice(2);
process.on('SIGHUP', () => {});
spawn(command, args, { stdio: 'inherit' }).once('exit', (code, signal) => {
  writeFileSync(file, JSON.stringify({ code, signal }));
  // Node would try to restore a terminal that is gone.
  process.kill(process.pid, 'SIGKILL');
});
