#!/usr/bin/env node
/** The `skein` command: arguments in, exit code out. Everything else is loaded when it is needed. */
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { EXIT } from './exit-code.js';
import { interrupts } from './interrupts.js';
import type { Machine } from './machine.js';
import { report, runCommandLine } from './program.js';

/** A reader that has gone away (`skein … | head`) is no error. */
const writer = (stream: NodeJS.WriteStream) => {
  let open = true;
  stream.on('error', () => {
    open = false;
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

const machine: Machine = {
  env: process.env,
  home: process.env.HOME || homedir(),
  cwd: workingDirectory(),
  platform: process.platform,
  stdin: process.stdin,
  out: writer(process.stdout),
  err: writer(process.stderr),
  watchdog: [process.execPath, fileURLToPath(new URL('./watchdog.js', import.meta.url))],
  onInterrupt: interrupts(process, () => process.exit(EXIT.interrupted)),
};

process.on('uncaughtException', (error) => {
  process.exitCode = report(error, process.argv.includes('--verbose'), machine);
  process.exit();
});

process.exitCode = await runCommandLine(process.argv.slice(2), machine);
