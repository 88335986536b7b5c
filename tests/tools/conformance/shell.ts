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

const hasEndedJob = async (bench: Bench) => {
  await inBackground('echo all done')(bench);
  await bench.call('TaskOutput', { task_id: 'bash_1', timeout: 20_000 }, { recordsResult: false });
};

const expectNoSurvivors = async (bench: Bench) => expect(await bench.survivors()).toEqual([]);

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
    'the output of a command': { input: { command: 'echo hi' }, end: 'ok', says: /^hi\n$/ },
    'a command without output': { input: { command: 'true' }, end: 'ok', says: /no output/ },
    'a failing command': { input: { command: 'exit 7' }, end: 'failed', says: /Exit code 7/ },
    'an unknown command': { input: { command: 'no-such' }, end: 'failed', says: /127/ },
    'an unclosed quote': {
      input: { command: "echo 'open" },
      end: 'asked',
      says: /not valid shell/,
    },
    'a command that reads its input': { input: { command: 'cat' }, end: 'ok', says: /no output/ },
    'a command that requires a terminal': {
      input: { command: 'tty' },
      end: 'failed',
      says: /not a tty/,
    },
    'fifty megabytes of output, by showing both ends': {
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
    'a time-out': {
      input: { command: 'sleep 600', timeout: 200 },
      end: 'failed',
      says: /Stopped after 200 ms/,
      after: expectNoSurvivors,
    },
    'background processes of a command, by ending them': {
      input: { command: 'sleep 600 & disown; echo bye' },
      end: 'ok',
      says: /bye/,
      after: expectNoSurvivors,
    },
    'a flood of children': {
      input: { command: 'for i in $(seq 50); do sleep 600 & done; echo started' },
      end: 'ok',
      says: /started/,
      after: expectNoSurvivors,
    },
    'a command that deletes its working directory': {
      input: { command: 'mkdir gone && cd gone && rmdir ../gone && echo left' },
      end: 'ok',
      says: /left/,
    },
    'a command above the length limit of the system': {
      input: { command: `: ${'x'.repeat(200_000)}` },
      end: 'denied',
      says: /too long/,
    },
    'a NUL': { input: { command: 'echo a\0b' }, end: 'denied', says: /NUL/ },
    'a call of skein': { input: { command: 'skein -p hi' }, end: 'denied', says: /skein itself/ },
    'a background command': {
      input: { command: 'sleep 600', run_in_background: true },
      end: 'ok',
      says: /bash_1/,
      after: async (bench) => expect(await bench.survivors()).not.toEqual([]),
    },
    'too many background commands': {
      first: async (bench) => {
        for (let count = 0; count < 20; count += 1) await inBackground('sleep 600')(bench);
      },
      input: { command: 'sleep 600', run_in_background: true },
      end: 'failed',
      says: /20 commands already run in the background/,
    },
    'API keys, which are not in its environment': {
      input: { command: 'env | grep -c -e ANTHROPIC -e API_KEY' },
      end: 'failed',
      says: /^0/,
    },
  },
};

export const taskOutput: Entry = {
  tool: 'TaskOutput',
  first: hasEndedJob,
  sample: { task_id: 'bash_1' },
  endlessFirst: inBackground('sleep 600'),
  endless: { task_id: 'bash_1', timeout: 600_000 },
  draws: () => ({ task_id: fc.constantFrom('bash_1', 'bash_9', '\n', '../..') }),
  cases: {
    'the output of a task': {
      first: hasEndedJob,
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /exit code 0[\s\S]*all done/,
    },
    'a task without new output': {
      first: async (bench) => {
        await hasEndedJob(bench);
        await bench.call('TaskOutput', { task_id: 'bash_1' });
      },
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /no new output/,
    },
    'a running task': {
      first: inBackground('sleep 600'),
      input: { task_id: 'bash_1', block: false },
      end: 'ok',
      says: /is running/,
    },
    'megabytes of output, by showing the end': {
      first: inBackground("head -c 5000000 /dev/zero | tr '\\0' x; echo END"),
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /no longer in memory[\s\S]*END\n$/,
      after: (_, { text }) => expect(text.length).toBeLessThan(31_000),
    },
    'an unknown id': {
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
    'a task with child processes': {
      first: inBackground('sleep 600 & setsid sleep 600 & sleep 600'),
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /was stopped/,
      after: expectNoSurvivors,
    },
    'a task that ignores signals': {
      first: inBackground('trap "" TERM INT HUP; while :; do sleep 1; done'),
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /was stopped/,
      after: expectNoSurvivors,
    },
    'an ended task': {
      first: hasEndedJob,
      input: { task_id: 'bash_1' },
      end: 'ok',
      says: /exit code 0/,
    },
    'an unknown id': {
      input: { task_id: '1' },
      end: 'failed',
      says: /no background task "1"/,
    },
  },
};
