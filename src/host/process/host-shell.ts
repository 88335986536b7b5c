/**
 * Host shell: the Shell port with a bash per command, in its own process group, without input by
 * default.
 *
 * A command ends when its shell exits. Remaining processes of the group are then killed. Processes
 * that left the group are found by the command's environment variable, if they still hold the pipes
 * or the command was stopped.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import { SkeinError } from '../../protocol/skein-error.js';
import type { Shell, ShellCommand, ShellEnd } from '../../protocol/tools/shell.js';
import { FileError } from '../../protocol/tools/workspace.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { closeWriters, openOutputPipes } from './output-pipe.js';
import { endProcessGroup } from './ownership/signal-process-group.js';
import { killMarkedProcesses } from './ownership/sweep-orphans.js';
import type { WatchdogLink } from './ownership/watchdog-link.js';
import { findShell, parseReportedDirectory, shellScript } from './shell-script.js';

export interface HostShellOptions {
  /** Environment made by `childEnvironment`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly watchdog: WatchdogLink;
  readonly sandbox?: Sandbox | undefined;
}

/** Thrown if the shell cannot be started. */
export class ShellError extends SkeinError {
  readonly code = 'shell';
}

const COMMAND_VARIABLE = 'SKEIN_COMMAND';
/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 1_000;
/** Time to wait for pipes that other processes hold after the shell exits. */
const DRAIN_MS = 250;
/** SIGKILL may not take effect while a process waits for a broken disk. */
const GIVE_UP_MS = 5_000;
const MAX_REPORT_LENGTH = 64 * 1024;

export const hostShell = ({ environment, watchdog, sandbox }: HostShellOptions): Shell => ({
  async run(command) {
    const startedAt = performance.now();
    if (command.signal.aborted)
      return { ...KILLED, reason: 'aborted', cwd: undefined, durationMs: 0 };
    await refuseMissing(command.cwd);
    await watchdog.ready();
    const mark = randomUUID();
    const env = {
      ...environment,
      ...command.env,
      PWD: command.cwd,
      [COMMAND_VARIABLE]: mark,
    };
    const enclosed = await sandbox?.(command.cwd).catch(throwSandboxError);
    try {
      const { child, streams } = await start(command, env, enclosed?.start);
      const group = child.pid ?? (await throwStartError(child));
      watchdog.add(group);
      command.onStarted?.();
      try {
        const end = await follow(child, streams, group, mark, command);
        return { ...end, durationMs: Math.round(performance.now() - startedAt) };
      } finally {
        watchdog.remove(group);
      }
    } finally {
      for (const note of (await enclosed?.end()) ?? []) {
        command.onOutput('stderr', Buffer.from(`${note}\n`));
      }
    }
  },
});

interface Streams {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Final working directory, as printed by the script. */
  readonly report: Readable;
}

const start = async (
  { command, cwd, input }: ShellCommand,
  env: Record<string, string>,
  enclosing: readonly string[] = [],
) => {
  const shell = findShell();
  const commandLine = [shell.path, '-c', shellScript(command, shell)];
  const [program = shell.path, ...args] = [...enclosing, ...commandLine];
  const file = input === undefined ? undefined : await openInput(input);
  const pipes = (await openOutputPipes(2)) ?? [];
  const [output, errors] = pipes;
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: [file?.fd ?? 'ignore', output?.writer ?? 'pipe', errors?.writer ?? 'pipe', 'pipe'],
  });
  closeWriters(pipes);
  // Not awaited, because a fast child could exit before the listeners are attached.
  file?.close().catch(() => undefined);
  const streams = {
    stdout: output?.reader ?? child.stdout,
    stderr: errors?.reader ?? child.stderr,
    report: child.stdio[3],
  };
  return { child, streams: streams as Streams };
};

/**
 * Writes the command's input to an unlinked temporary file. A child that never reads the file blocks no writer, and
 * unlike Node's sockets the file can be reopened as /dev/stdin. The caller closes the handle after the spawn.
 */
const openInput = async (text: string): Promise<FileHandle> => {
  const directory = await mkdtemp(join(tmpdir(), 'skein-input-'));
  try {
    const path = join(directory, 'input');
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    return await open(path, 'r');
  } finally {
    await rm(directory, { recursive: true, force: true }).catch(() => undefined);
  }
};

const follow = async (
  child: ChildProcess,
  streams: Streams,
  group: number,
  mark: string,
  { timeoutMs, signal, thorough = false, onOutput }: ShellCommand,
): Promise<Omit<ShellEnd, 'durationMs'>> => {
  const exited = once(child, 'exit').then(
    ([exitCode, killedBy]) => ({ exitCode, signal: killedBy }) as Exit,
  );
  const closed = Promise.all(Object.values(streams).map(untilClosed)).then(() => true);
  streams.stdout.on('data', (chunk: Buffer) => onOutput('stdout', chunk));
  streams.stderr.on('data', (chunk: Buffer) => onOutput('stderr', chunk));
  const reported = collect(streams.report);

  const outcome = await untilExitOr(exited, timeoutMs, signal);
  const reason = typeof outcome === 'string' ? outcome : 'exited';
  await endProcessGroup(group, GRACE_MS);
  const exit = await Promise.race([exited, after(GIVE_UP_MS, KILLED, { ref: false })]);

  const waitForDrain = () => Promise.race([closed, after(DRAIN_MS, false, { ref: false })]);
  if (thorough || reason !== 'exited' || !(await waitForDrain())) {
    await killMarkedProcesses(COMMAND_VARIABLE, (value) => value === mark);
    await waitForDrain();
  }
  for (const stream of Object.values(streams)) stream.destroy();
  return { reason, ...exit, cwd: parseReportedDirectory(reported()) };
};

type Exit = Pick<ShellEnd, 'exitCode' | 'signal'>;

const KILLED: Exit = { exitCode: null, signal: 'SIGKILL' };

const untilExitOr = async (
  exited: Promise<Exit>,
  timeoutMs: number | undefined,
  signal: AbortSignal,
) => {
  // The signal may have aborted during the start, and its event does not fire again.
  if (signal.aborted) return 'aborted';
  const settled = new AbortController();
  const options = { signal: settled.signal };
  const interruptions = [
    once(signal, 'abort', options).then(() => 'aborted' as const),
    ...(timeoutMs === undefined ? [] : [after(timeoutMs, 'timeout' as const, options)]),
  ];
  try {
    return await Promise.race([exited, ...interruptions]);
  } finally {
    settled.abort();
    await Promise.allSettled(interruptions);
  }
};

const untilClosed = (stream: Readable) =>
  new Promise<void>((resolve) => {
    stream.on('error', () => undefined);
    stream.once('close', resolve);
  });

const collect = (stream: Readable): (() => string) => {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < MAX_REPORT_LENGTH) text += chunk;
  });
  return () => text;
};

const throwSandboxError = (cause: unknown): never => {
  const why = cause instanceof Error ? cause.message : String(cause);
  throw new ShellError(
    `The command was not started, because the sandbox cannot protect the workspace: ${why}`,
    { cause },
  );
};

const throwStartError = async (child: ChildProcess): Promise<never> => {
  const [error] = await once(child, 'error').catch((cause: unknown) => [cause]);
  throw new ShellError('The shell could not be started.', { cause: error });
};

/** Rejects with FileError, because spawn would report the shell itself as missing. */
const refuseMissing = async (directory: string) => {
  const stats = await stat(directory).catch(() => undefined);
  if (stats?.isDirectory() !== true) throw new FileError('missing', directory);
};
