/**
 * Writes the code that V8 compiles while the program runs, so that later starts need not compile it. For that, the
 * program answers a prompt with the built-in simulator; V8 includes the functions that ran. The session has an agent
 * definition, hooks, rules and instructions, as most have. src/cli/launch.ts reads the file.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
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

const HOOK = { matcher: 'Edit|Bash', hooks: [{ type: 'command', command: 'true' }] };
const SETTINGS = {
  permissions: {
    allow: ['Read', 'Bash(npm test:*)', 'Edit(src/**)'],
    ask: ['Bash(git push:*)'],
    deny: ['Read(secrets/**)', 'Bash(curl:*)'],
  },
  hooks: { PreToolUse: [HOOK], PostToolUse: [HOOK] },
};
const AGENT = `---
name: reviewer
description: A reviewer of changes
tools: Read, Grep, Bash(git log:*)
maxTurns: 20
---

You are a reviewer.
`;
const INSTRUCTIONS = '# Rules\n\n- Name files by their path.\n';

const FILES = {
  'script.json': JSON.stringify(SCRIPT),
  'skein/settings.json': JSON.stringify(SETTINGS),
  'skein/CLAUDE.md': INSTRUCTIONS,
  'work/.claude/agents/reviewer.md': AGENT,
  'work/CLAUDE.md': INSTRUCTIONS,
  'work/notes.txt': 'A note.\n',
};

/** Runs the program of `dist` once and writes its compiled code beside it. Rejects if the program fails. */
export const writeCodeCache = async (dist) => {
  const home = await mkdtemp(join(tmpdir(), 'skein-build-'));
  try {
    for (const [name, text] of Object.entries(FILES)) {
      const path = join(home, name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(path, text);
    }
    const script = join(home, 'script.json');
    const saver = join(import.meta.dirname, 'save-code.cjs');
    const flags = ['--simulate', script, '--allowed-tools', 'Bash'];
    const args = [saver, resolve(dist), '-p', 'Look at the notes.', ...flags];
    const { PATH } = process.env;
    const options = {
      cwd: join(home, 'work'),
      env: { PATH, HOME: home, SKEIN_HOME: join(home, 'skein') },
    };
    await promisify(execFile)(process.execPath, args, options);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};
