/** Runs a command in the agent's shell and reports what it printed and how it ended. */
import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';
import { z } from 'zod';
import {
  defineTool,
  FileError,
  type ShellEnd,
  type ToolContext,
  type ToolOutcome,
} from '../../protocol/tools/tool.js';
import { shortLine } from '../truncation.js';
import { startInBackground } from './background-command.js';
import { CapturedOutput } from './captured-output.js';
import { isPolling } from './polling-command.js';
import { paced } from './throttle.js';

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_TIMEOUT_MS = 600_000;
const INLINE_CHARACTERS = 30_000;
/** Linux takes 128 KiB in one argument. */
const LONGEST_COMMAND_BYTES = 120_000;
const PROGRESS_INTERVAL_MS = 300;

const PROMPT = `Runs a command in bash and returns what it prints.

- Every call is a fresh shell: the working directory carries over; variables, functions and aliases do not.
- There is no terminal and no input: choose flags that never ask; no editor, no pager.
- What the command leaves running is ended when it returns. For a server, a watcher or a long build set run_in_background: the call returns at once with an id for TaskOutput and TaskStop, and it ends with the session at the latest. Do not use "&" or nohup.
- It may run ${DEFAULT_TIMEOUT_MS} ms unless you set timeout, at most ${LONGEST_TIMEOUT_MS}; in the background only a timeout that you set ends it.
- Up to ${INLINE_CHARACTERS} characters are shown. Of longer output you see both ends, and the path of a file with all of it.
- Quote paths with spaces. A command is allowed only if each part of it is.`;

export const runCommand = defineTool({
  name: 'Bash',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    command: z.string().min(1).describe('The command line.'),
    timeout: z
      .int()
      .min(1)
      .max(LONGEST_TIMEOUT_MS)
      .optional()
      .describe('Milliseconds until it is stopped.'),
    run_in_background: z.boolean().optional().describe('Do not wait for its end.'),
    description: z.string().optional().describe('What it does, in a few words, for the user.'),
  }),
  describe: ({ command, description, run_in_background }) =>
    [
      `Bash ${oneLine(command)}`,
      ...(run_in_background === true ? ['in the background'] : []),
      ...(description === undefined ? [] : [`(${oneLine(description)})`]),
    ].join(' '),
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  polls: ({ command }) => isPolling(command),
  subject: ({ command, run_in_background: lasts = false }) => ({
    action: 'execute',
    target: command,
    ...(lasts && { lasts }),
  }),
  checkPermissions({ command }) {
    const reason = unrunnable(command);
    return reason === undefined ? undefined : { behavior: 'deny', reason };
  },
  interruptBehavior: 'cancel',
  async call({ command, timeout, run_in_background }, context) {
    try {
      if (run_in_background === true) return await startInBackground(command, timeout, context);
      return await runToEnd(command, timeout ?? DEFAULT_TIMEOUT_MS, context);
    } catch (error) {
      if (error instanceof FileError && error.why === 'missing') return moveOut(context);
      throw error;
    }
  },
});

const runToEnd = async (command: string, timeoutMs: number, context: ToolContext) => {
  const output = new CapturedOutput(INLINE_CHARACTERS, () =>
    context.openArtifact('bash-output.txt'),
  );
  const tell = paced(PROGRESS_INTERVAL_MS, () =>
    context.progress(`${output.bytes} bytes: ${output.lastLine}`),
  );
  const { cwd, shell, signal } = context;
  const end = await shell.run({
    command,
    cwd,
    timeoutMs,
    signal,
    onOutput(stream, chunk) {
      output.add(stream, chunk);
      tell();
    },
  });
  return report(end, output, timeoutMs, cwd);
};

const report = async (
  end: ShellEnd,
  output: CapturedOutput,
  timeout: number,
  cwd: string,
): Promise<ToolOutcome> => {
  const status = statusOf(end, timeout);
  const { text, truncated, kept } = await output.close(INLINE_CHARACTERS - status.length - 2);
  const parts = [text.trimEnd() === '' ? '' : text, status].filter((part) => part !== '');
  return {
    // Where all of it is has a name that nothing had before.
    ...(kept !== undefined && { gist: [text.replace(kept, ''), status].join('\n') }),
    content: parts.length === 0 ? '(no output)' : parts.join(text.endsWith('\n') ? '\n' : '\n\n'),
    isError: end.reason !== 'exited' || end.exitCode !== 0,
    notes: end.cwd === undefined || end.cwd === cwd ? [] : [{ type: 'cwd.changed', cwd: end.cwd }],
    facts: {
      reason: end.reason,
      ...(end.exitCode === null ? {} : { exitCode: end.exitCode }),
      ...(end.signal === null ? {} : { signal: end.signal }),
      bytes: output.bytes,
      truncated,
      durationMs: end.durationMs,
    },
  };
};

/** Nothing to say about a command that ended well. */
const statusOf = ({ reason, exitCode, signal }: ShellEnd, timeout: number): string => {
  if (reason === 'timeout') {
    return `[Stopped after ${timeout} ms, its time limit. Set a longer timeout (at most ${LONGEST_TIMEOUT_MS}), or do less in one command.]`;
  }
  if (reason === 'aborted') return '[Interrupted before it ended.]';
  if (signal !== null) return `[Ended by signal ${signal}.]`;
  return exitCode === 0 ? '' : `[Exit code ${exitCode}.]`;
};

/** No system runs it, so nobody needs to be asked. */
const unrunnable = (command: string): string | undefined => {
  if (command.includes('\0')) return 'The command contains a NUL character: remove it.';
  return Buffer.byteLength(command) > LONGEST_COMMAND_BYTES
    ? `The command is too long, over ${LONGEST_COMMAND_BYTES} bytes: write it to a file with Write, and run that.`
    : undefined;
};

/** The working directory was deleted, perhaps by the agent itself: go on from what is left of it. */
const moveOut = async ({ cwd, workspace }: ToolContext): Promise<ToolOutcome> => {
  let there = dirname(cwd);
  while (there !== dirname(there) && (await workspace.stat(there))?.kind !== 'directory') {
    there = dirname(there);
  }
  return {
    content: `The working directory ${cwd} no longer exists, so nothing ran. It is now ${there}; run the command again.`,
    isError: true,
    notes: [{ type: 'cwd.changed', cwd: there }],
  };
};

const oneLine = (text: string) => shortLine(text.trim().replace(/\s+/g, ' '), 120);
