/** Bash, TaskOutput and TaskStop. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Bench } from './bench.js';
import { textOf } from './edit.js';
import type { Entry } from './entry.js';

const COMMANDS = fc.constantFrom(
  'true',
  'false',
  'echo hi',
  'printf "\\377\\000"',
  'cat',
  'exit 7',
  'cd folder',
  'kill $$',
  'cat notes.txt >&2',
  'nonsense --flag',
  "echo 'open",
  'echo "$(seq 1 20000)"',
  'cd / && ls',
);

const inBackground = (command: string) => (bench: Bench) =>
  bench.call('Bash', { command, run_in_background: true });

const hasEnded = async (bench: Bench) => {
  await inBackground('echo all done')(bench);
  await bench.call('TaskOutput', { task_id: 'bash_1', timeout: 20_000 }, { learns: false });
};

const noSurvivors = async (bench: Bench) => expect(await bench.survivors()).toEqual([]);

export const bash: Entry = {
  tool: 'Bash',
  sample: { command: 'echo made > made.txt' },
  endless: { command: 'sleep 600 & setsid sleep 600 & sleep 600' },
  runs: 25,
  draws: () => ({ command: COMMANDS, timeout: fc.constantFrom(1, 500, 20_000) }),
  whole: (bench) =>
    expect(existsSync(join(bench.cwd, 'made.txt')) ? textOf(bench, 'made.txt') : 'made\n').toBe(
      'made\n',
    ),
  cases: {
    'what a command prints': { input: { command: 'echo hi' }, end: 'ok', says: /^hi\n$/ },
    silence: { input: { command: 'true' }, end: 'ok', says: /no output/ },
    'a command that fails': { input: { command: 'exit 7' }, end: 'failed', says: /Exit code 7/ },
    'a command that there is not': { input: { command: 'no-such' }, end: 'failed', says: /127/ },
    'a sentence that is not closed': {
      input: { command: "echo 'open" },
      end: 'asked',
      says: /not valid shell/,
    },
    'a command that waits for input': { input: { command: 'cat' }, end: 'ok', says: /no output/ },
    'a command that wants a terminal': {
      input: { command: 'tty' },
      end: 'failed',
      says: /not a tty/,
    },
    'fifty megabytes, of which it shows both ends': {
      input: { command: "head -c 50000000 /dev/zero | tr '\\0' x; echo END" },
      end: 'ok',
      says: /50000004 bytes in all.*which Read can open[\s\S]*END\n$/,
      after: (_, { text }) => expect(text.length).toBeLessThanOrEqual(30_000),
    },
    'bytes that are not text': {
      input: { command: 'printf "\\377\\376\\000\\303"' },
      end: 'ok',
      says: /^\ufffd\ufffd/,
    },
    'a time limit': {
      input: { command: 'sleep 600', timeout: 200 },
      end: 'failed',
      says: /Stopped after 200 ms/,
      after: noSurvivors,
    },
    'what it left running, by ending it': {
      input: { command: 'sleep 600 & disown; echo bye' },
      end: 'ok',
      says: /bye/,
      after: noSurvivors,
    },
    'a flood of children': {
      input: { command: 'for i in $(seq 50); do sleep 600 & done; echo started' },
      end: 'ok',
      says: /started/,
      after: noSurvivors,
    },
    'a command that deletes where it is': {
      input: { command: 'mkdir gone && cd gone && rmdir ../gone && echo left' },
      end: 'ok',
      says: /left/,
    },
    'a command longer than the system takes': {
      input: { command: `: ${'x'.repeat(200_000)}` },
      end: 'denied',
      says: /too long/,
    },
    'a NUL': { input: { command: 'echo a\0b' }, end: 'denied', says: /NUL/ },
    'skein itself': { input: { command: 'skein -p hi' }, end: 'denied', says: /skein itself/ },
    'a command for the background': {
      input: { command: 'sleep 600', run_in_background: true },
      end: 'ok',
      says: /bash_1/,
      after: async (bench) => expect(await bench.survivors()).not.toEqual([]),
    },
    'more in the background than there may be': {
      first: async (bench) => {
        for (let count = 0; count < 20; count += 1) await inBackground('sleep 600')(bench);
      },
      input: { command: 'sleep 600', run_in_background: true },
      end: 'failed',
      says: /20 commands run in the background/,
    },
    'its keys, by not having them': {
      input: { command: 'env | grep -c -e ANTHROPIC -e API_KEY' },
      end: 'failed',
      says: /^0/,
    },
  },
};

export const taskOutput: Entry = {
  tool: 'TaskOutput',
  first: hasEnded,
  sample: { task_id: 'bash_1' },
  endlessFirst: inBackground('sleep 600'),
  endless: { task_id: 'bash_1', timeout: 600_000 },
  draws: () => ({ task_id: fc.constantFrom('bash_1', 'bash_9', '\n', '../..') }),
  cases: {
    'what was printed': {
      first: hasEnded,
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /exit code 0[\s\S]*all done/,
    },
    'nothing new': {
      first: async (bench) => {
        await hasEnded(bench);
        await bench.call('TaskOutput', { task_id: 'bash_1' });
      },
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /no new output/,
    },
    'a task that still runs': {
      first: inBackground('sleep 600'),
      input: { task_id: 'bash_1', block: false },
      end: 'ok',
      says: /is running/,
    },
    'megabytes, of which it shows the end': {
      first: inBackground("head -c 5000000 /dev/zero | tr '\\0' x; echo END"),
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /no longer in memory[\s\S]*END\n$/,
      after: (_, { text }) => expect(text.length).toBeLessThan(31_000),
    },
    'an id that was never given': {
      input: { task_id: 'bash_7' },
      end: 'failed',
      says: /no background task "bash_7"/,
    },
    'an id of a megabyte': {
      input: { task_id: 'x'.repeat(1_000_000) },
      end: 'failed',
      says: /no background task/,
    },
  },
};

export const taskStop: Entry = {
  tool: 'TaskStop',
  first: inBackground('sleep 600 & sleep 600'),
  sample: { task_id: 'bash_1' },
  draws: () => ({ task_id: fc.constantFrom('bash_1', 'bash_9', '\n', '../..') }),
  cases: {
    'a task, with all that it started': {
      first: inBackground('sleep 600 & setsid sleep 600 & sleep 600'),
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /was stopped/,
      after: noSurvivors,
    },
    'a task that will not listen': {
      first: inBackground('trap "" TERM INT HUP; while :; do sleep 1; done'),
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /was stopped/,
      after: noSurvivors,
    },
    'a task that has ended already': {
      first: hasEnded,
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /exit code 0/,
    },
    'an id that was never given': {
      input: { task_id: '1' },
      end: 'failed',
      says: /no background task "1"/,
    },
  },
};
