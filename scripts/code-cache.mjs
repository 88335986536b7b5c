/**
 * Writes the code that V8 compiles while the program runs, so that later starts need not compile it. For that, the
 * program answers a prompt with the built-in simulator; V8 includes the functions that ran. src/cli/launch.ts reads
 * the file.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = {
  rules: [
    { match: { turn: 2 }, reply: 'Done.' },
    {
      match: { turn: 1 },
      reply: { tool_use: [{ name: 'Bash', input: { command: 'echo more >> notes.txt' } }] },
    },
    {
      reply: {
        text: 'I look.',
        tool_use: [
          { name: 'Read', input: { file_path: 'notes.txt' } },
          { name: 'Bash', input: { command: 'ls' } },
        ],
      },
    },
  ],
};

/** Runs the program of `dist` once and writes its compiled code beside it. Rejects if the program fails. */
export const writeCodeCache = async (dist) => {
  const home = await mkdtemp(join(tmpdir(), 'skein-build-'));
  try {
    const script = join(home, 'script.json');
    await writeFile(script, JSON.stringify(SCRIPT));
    await writeFile(join(home, 'notes.txt'), 'A note.\n');
    const saver = join(import.meta.dirname, 'save-code.cjs');
    const flags = ['--simulate', script, '--allowed-tools', 'Bash'];
    const args = [saver, resolve(dist), '-p', 'Look at the notes.', ...flags];
    const { PATH } = process.env;
    const options = { cwd: home, env: { PATH, HOME: home, SKEIN_HOME: join(home, 'skein') } };
    await promisify(execFile)(process.execPath, args, options);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};
