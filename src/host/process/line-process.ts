/**
 * A child process that is spoken to in lines. It is to end by itself when its stdin does, which happens
 * however this process ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { boundedLines } from './bounded-lines.js';

export interface LineProcess {
  /** For one reader. Throws a LineTooLongError. */
  readonly lines: AsyncIterable<string>;
  /** Resolves, when it has ended or could not be started, with what happened: "was ended by SIGKILL". */
  readonly ended: Promise<string>;
  /** What it does not read any more is dropped. */
  send(line: string): void;
  /** Lets it end by itself, but not forever. */
  close(): Promise<void>;
  kill(): void;
  /** Keeps our event loop alive, until `letGo`. */
  ref(): void;
  unref(): void;
}

export interface LineProcessOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Bytes. */
  readonly maxLineBytes: number;
  readonly graceMs: number;
}

export const startLineProcess = (options: LineProcessOptions): LineProcess => {
  const { command, cwd, env, maxLineBytes: longestLine, graceMs } = options;
  const [program = '', ...args] = command;
  let said = '';
  // A group of its own: Ctrl-C at the terminal of a program is for the program to decide about.
  const child: ChildProcess = spawn(program, args, { cwd, env: { ...env }, detached: true });
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(`could not be started: ${message}`));
    child.once('close', (code, signal) => resolve(howItEnded(code, signal, said)));
  });
  const { stdin, stdout, stderr } = child;
  // So it is where there are no more files to be had.
  if (!(stdin && stdout && stderr)) return { ...NOT_STARTED, ended };
  stdin.on('error', () => undefined);
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-MAX_STDERR_LENGTH);
  });
  const handles = [child, ...[stdin, stdout, stderr].map((pipe) => pipe as Socket)];
  return {
    lines: boundedLines(stdout, longestLine),
    ended,
    send(line) {
      if (stdin.writable) stdin.write(`${line}\n`);
    },
    async close() {
      stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(timer);
    },
    kill: () => void child.kill('SIGKILL'),
    ref() {
      for (const handle of handles) handle.ref();
    },
    unref() {
      for (const handle of handles) handle.unref();
    },
  };
};

const NOT_STARTED: Omit<LineProcess, 'ended'> = {
  lines: (async function* () {})(),
  send: () => undefined,
  close: async () => undefined,
  kill: () => undefined,
  ref: () => undefined,
  unref: () => undefined,
};

/** Of what it prints for people only the end is kept: there it says why it could not go on. */
const MAX_STDERR_LENGTH = 2_000;

const howItEnded = (code: number | null, signal: NodeJS.Signals | null, said: string): string => {
  if (signal !== null) return `was ended by ${signal}`;
  const [last] = said.trimEnd().split('\n').slice(-1);
  const words = last?.replaceAll(/\p{Cc}/gu, '').slice(0, 300) ?? '';
  return `ended by itself with exit code ${code}${words === '' ? '' : `, saying "${words}"`}`;
};
