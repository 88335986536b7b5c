#!/usr/bin/env node
/** The `skein` command: arguments in, exit code out. Everything else is loaded when it is needed. */
import './run/v8-flags.js';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keysIn, redactorOf } from '../policy/redaction/redaction.js';
import { interrupts, signals } from '../terminal/input/interrupts.js';
import { lastWords, outputPace } from '../terminal/output/output-backpressure.js';
import type { TerminalHost } from '../terminal/terminal-host.js';
import { noticeText, sanitize } from '../terminal/text/sanitize.js';
import { report, runCommandLine } from './program.js';
import { EXIT } from './run/exit-code.js';

let outputFailure: string | undefined;

/** A reader that has gone away (`skein … | head`) is no error; a disk that is full is one. */
const writer = (stream: NodeJS.WriteStream) => {
  let open = true;
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    open = false;
    if (code !== 'EPIPE') outputFailure ??= code ?? 'an error';
  });
  return (text: string) => {
    if (open) stream.write(text);
  };
};

const workingDirectory = (): string => {
  try {
    return process.cwd();
  } catch {
    process.stderr.write('skein: The current directory is gone; change to one that exists.\n');
    process.exit(EXIT.usage);
  }
};

const toStderr = writer(process.stderr);
const redact = redactorOf(keysIn(process.env));

/** What is done to the terminal is undone, however this ends. */
const lent = new Set<() => void>();
const takeBack = () => {
  for (const giveBack of [...lent].reverse()) giveBack();
};
process.once('exit', takeBack);

const machine: TerminalHost = {
  env: process.env,
  home: resolve(process.env.HOME || userInfo().homedir),
  cwd: workingDirectory(),
  platform: process.platform,
  uid: process.geteuid?.(),
  stdin: process.stdin,
  stdout: process.stdout,
  out: writer(process.stdout),
  pace: outputPace(process.stdout),
  isOutputClosed: () => !process.stdout.writable,
  err: (text) => toStderr(sanitize(redact(text))),
  notify: (sentence) => machine.err(noticeText(sentence)),
  watchdog: [process.execPath, fileURLToPath(new URL('./watchdog.js', import.meta.url))],
  onInterrupt: interrupts(process, () => process.exit(EXIT.interrupted)),
  onSignal: signals(process),
  onResize(listener) {
    process.stdout.on('resize', listener);
    return () => process.stdout.off('resize', listener);
  },
  onContinue(listener) {
    process.on('SIGCONT', listener);
    return () => process.off('SIGCONT', listener);
  },
  lend(giveBack) {
    lent.add(giveBack);
    return () => lent.delete(giveBack);
  },
  // The whole group, or a parent such as npm would go on and keep the shell waiting.
  suspend: () => void process.kill(0, 'SIGTSTP'),
  quit: (code) => process.exit(code),
};

process.on('uncaughtException', (error) => {
  takeBack();
  process.exitCode = report(error, process.argv.includes('--verbose'), machine);
  process.exit();
});

const exitCode = await runCommandLine(process.argv.slice(2), machine);
// What the last write met is known a moment later.
await new Promise((settled) => setImmediate(settled));
if (outputFailure !== undefined) {
  machine.err(`skein: The output could not be written: ${outputFailure}.\n`);
}
process.exitCode = outputFailure !== undefined && exitCode === EXIT.done ? EXIT.failed : exitCode;
await lastWords(process.stdout);
// What a terminal has not read by now would keep the process alive for as long as it does not.
if (process.stdout.isTTY && process.stdout.writableLength > 0) process.exit();
