/** Bash: runs a command in the agent's shell and returns its output and how it ended. */
import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { ShellEnd } from '../../protocol/tools/shell.js';
import { ShellJobRefusal } from '../../protocol/tools/shell-jobs.js';
import {
  defineTool,
  type ToolContext,
  ToolFailure,
  type ToolOutcome,
} from '../../protocol/tools/tool.js';
import { FileError } from '../../protocol/tools/workspace.js';
import { truncateLine } from '../text/truncate-text.js';

import { capTimeout } from './cap-timeout.js';
import { CapturedOutput } from './captured-output.js';
import { isPollingCommand } from './is-polling-command.js';
import { throttle } from './throttle.js';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const INLINE_CHARACTERS = 30_000;
/** Below the limit of Linux for an argument, 128 KiB. */
const MAX_COMMAND_BYTES = 120_000;
const PROGRESS_INTERVAL_MS = 300;

const PROMPT = `Runs a command in bash and returns its output.

- Every call is a fresh shell: the working directory carries over; variables, functions and aliases do not.
- There is no terminal and no input: choose flags that never prompt; no editor, no pager.
- Processes left running are killed when the command returns. For a server, a watcher or a long build set run_in_background: the call returns at once with an id for TaskOutput and TaskStop; it ends with the session at the latest. Do not use "&" or nohup.
- It may run ${DEFAULT_TIMEOUT_MS} ms unless you set timeout, at most ${MAX_TIMEOUT_MS}; in the background only a timeout that you set applies.
- Up to ${INLINE_CHARACTERS} characters are shown. Longer output shows both ends, and the path of a file with all of it.
- Quote paths with spaces. A command is allowed only if each part of it is.`;

export const runCommand = defineTool({
  name: 'Bash',
  kind: 'builtin',
  prompt: PROMPT,
  mentions: [
    {
      of: ['TaskOutput', 'TaskStop'],
      text: ' with an id for TaskOutput and TaskStop',
      instead: '',
    },
    { of: ['TaskOutput'], text: 'TaskOutput and TaskStop', instead: 'TaskStop' },
    { of: ['TaskStop'], text: 'TaskOutput and TaskStop', instead: 'TaskOutput' },
  ],
  input: z.strictObject({
    command: z.string().min(1).describe('The command line.'),
    timeout: z.int().min(1).optional().describe('Milliseconds until it is stopped.'),
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
  polls: ({ command }) => isPollingCommand(command),
  subject: ({ command, run_in_background: isBackground = false }) => ({
    action: 'execute',
    target: command,
    ...(isBackground && { lasts: isBackground }),
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

const ADVICE = 'Set run_in_background for a command that needs longer.';
const BACKGROUND_ADVICE = 'Without a timeout it may run until the session ends.';

const startInBackground = async (
  command: string,
  timeout: number | undefined,
  { cwd, jobs, signal, openArtifact }: ToolContext,
): Promise<ToolOutcome> => {
  const artifact = openArtifact('bash-output.txt');
  const capped =
    timeout === undefined ? undefined : capTimeout(timeout, MAX_TIMEOUT_MS, BACKGROUND_ADVICE);
  const timeoutMs = capped?.timeoutMs;
  try {
    const { id } = await jobs.start({ command, cwd, timeoutMs, artifact, signal });
    const note = capped === undefined || capped.note === '' ? '' : `\n\n${capped.note}`;
    return {
      content: `Started in the background as ${id}. TaskOutput shows its output, TaskStop stops it, and all its output is also in ${artifact.path}. A message reports its end.${note}`,
      gist: 'Started in the background.',
      notes: [{ type: 'job.read', job: id, upTo: 0 }],
      facts: { task: id },
    };
  } catch (error) {
    if (error instanceof ShellJobRefusal) throw new ToolFailure(error.message);
    throw error;
  }
};

const runToEnd = async (
  command: string,
  timeout: number,
  context: ToolContext,
): Promise<ToolOutcome> => {
  const { timeoutMs, note } = capTimeout(timeout, MAX_TIMEOUT_MS, ADVICE);
  const output = new CapturedOutput(INLINE_CHARACTERS, () =>
    context.openArtifact('bash-output.txt'),
  );
  const reportProgress = throttle(PROGRESS_INTERVAL_MS, () =>
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
      reportProgress();
    },
  });
  const status = [statusOf(end, timeoutMs), note].filter((line) => line !== '').join('\n');
  return report(end, output, status, cwd);
};

/** `status` has the lines after the output. */
const report = async (
  end: ShellEnd,
  output: CapturedOutput,
  status: string,
  cwd: string,
): Promise<ToolOutcome> => {
  const { text, truncated, kept } = await output.close(INLINE_CHARACTERS - status.length - 2);
  const parts = [text.trimEnd() === '' ? '' : text, status].filter((part) => part !== '');
  return {
    // The gist leaves out the artifact's path, because the path is never the same twice.
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

/** Returns an empty text for exit code 0. */
const statusOf = ({ reason, exitCode, signal }: ShellEnd, timeout: number): string => {
  if (reason === 'timeout') {
    return `[Stopped after ${timeout} ms, its time limit. Set a longer timeout (at most ${MAX_TIMEOUT_MS}), or do less in one command.]`;
  }
  if (reason === 'aborted') return '[Interrupted before it ended.]';
  if (signal !== null) return `[Ended by signal ${signal}.]`;
  return exitCode === 0 ? '' : `[Exit code ${exitCode}.]`;
};

/** Returns the reason why no system can run the command, so that no person is asked. */
const unrunnable = (command: string): string | undefined => {
  if (command.includes('\0')) return 'The command contains a NUL character: remove it.';
  return Buffer.byteLength(command) > MAX_COMMAND_BYTES
    ? `The command is too long, over ${MAX_COMMAND_BYTES} bytes: write it to a file with Write, and run that.`
    : undefined;
};

/** Moves to the nearest existing parent, because the working directory was deleted. */
const moveOut = async ({ cwd, workspace }: ToolContext): Promise<ToolOutcome> => {
  let directory = dirname(cwd);
  while (
    directory !== dirname(directory) &&
    (await workspace.stat(directory))?.kind !== 'directory'
  ) {
    directory = dirname(directory);
  }
  return {
    content: `The working directory ${cwd} no longer exists, so nothing ran. It is now ${directory}; run the command again.`,
    isError: true,
    notes: [{ type: 'cwd.changed', cwd: directory }],
  };
};

const oneLine = (text: string) => truncateLine(text.trim().replace(/\s+/g, ' '), 120);
