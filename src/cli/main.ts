/** The program of the `skein` command: reads arguments, sets the exit code. Other code is loaded on demand. */
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRedactor, secretValues } from '../policy/redaction/redact.js';
import { interrupts, signals } from '../terminal/input/interrupts.js';
import { isPipeOrFile } from '../terminal/input/is-pipe-or-file.js';
import { drainOutput, outputBackpressure } from '../terminal/output/output-backpressure.js';
import {
  releaseLostTerminals,
  standardTerminals,
} from '../terminal/output/release-lost-terminals.js';
import type { TerminalHost } from '../terminal/terminal-host.js';
import { noticeText, sanitize } from '../terminal/text/sanitize.js';
import { commandLine, reportError } from './command-line.js';
import { ExitCode } from './session/exit-code.js';

let outputFailure: string | undefined;

/**
 * Returns a writer that ignores a closed pipe (`skein … | head`) and records any other write error. Node makes
 * stdout writable again after an error, so `isClosed` does not ask the stream.
 */
const writer = (stream: NodeJS.WriteStream) => {
  let open = true;
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    open = false;
    if (code !== 'EPIPE') outputFailure ??= code ?? 'an error';
  });
  return {
    write(text: string) {
      if (open) stream.write(text);
    },
    isClosed: () => !open || !stream.writable,
  };
};

const workingDirectory = (): string => {
  try {
    return process.cwd();
  } catch {
    process.stderr.write('skein: The current directory no longer exists; change to another.\n');
    process.exit(ExitCode.usage);
  }
};

const stdout = writer(process.stdout);
const stderr = writer(process.stderr);
const redact = createRedactor(secretValues(process.env));

/** Functions that restore the terminal. They run at every exit, the newest first. */
const restorers = new Set<() => void>();
const restoreTerminal = () => {
  for (const restore of [...restorers].reverse()) restore();
};
const terminals = standardTerminals();
process.once('exit', () => {
  restoreTerminal();
  releaseLostTerminals(terminals);
});

const host: TerminalHost = {
  env: process.env,
  home: resolve(process.env.HOME || userInfo().homedir),
  cwd: workingDirectory(),
  platform: process.platform,
  uid: process.geteuid?.(),
  // Node opens the stream when the property is first read.
  get stdin() {
    return process.stdin;
  },
  hasPipedInput: () => isPipeOrFile(0),
  stdout: process.stdout,
  out: stdout.write,
  backpressure: outputBackpressure(process.stdout),
  isOutputClosed: stdout.isClosed,
  err: (text) => stderr.write(sanitize(redact(text))),
  notify: (sentence) => host.err(noticeText(sentence)),
  watchdog: [process.execPath, fileURLToPath(new URL('./watchdog.cjs', import.meta.url))],
  shardThread: fileURLToPath(new URL('./shard-thread.cjs', import.meta.url)),
  onInterrupt: interrupts(process, () => process.exit(ExitCode.interrupted)),
  onSignal: signals(process),
  onResize(listener) {
    process.stdout.on('resize', listener);
    return () => process.stdout.off('resize', listener);
  },
  onContinue(listener) {
    process.on('SIGCONT', listener);
    return () => process.off('SIGCONT', listener);
  },
  restoreAtExit(restore) {
    restorers.add(restore);
    return () => restorers.delete(restore);
  },
  // Suspends the whole process group, because a parent such as npm would keep the shell waiting.
  suspend: () => void process.kill(0, 'SIGTSTP'),
  quit: (code) => process.exit(code),
};

process.on('uncaughtException', (error) => {
  restoreTerminal();
  process.exitCode = reportError(error, process.argv.includes('--verbose'), host);
  process.exit();
});

/** Runs the command, and ends the process if a terminal would keep it alive. */
const run = async (): Promise<void> => {
  const exitCode = await commandLine(process.argv.slice(2), host);
  // An error of the last write is reported one event-loop turn later.
  await new Promise((settled) => setImmediate(settled));
  if (outputFailure !== undefined) {
    host.err(`skein: The output could not be written: ${outputFailure}.\n`);
  }
  process.exitCode =
    outputFailure !== undefined && exitCode === ExitCode.done ? ExitCode.failed : exitCode;
  await drainOutput(process.stdout);
  // A terminal that does not read its output would otherwise keep the process alive.
  if (process.stdout.isTTY && process.stdout.writableLength > 0) process.exit();
};

// A process that ends before the command has failed. Not set earlier, because the help takes over an exit code.
process.once('exit', () => {
  process.exitCode ??= ExitCode.failed;
});
void run();
