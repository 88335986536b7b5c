/**
 * Child process with line-based input and output. The child must exit when its stdin closes, which
 * also happens if this process is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { boundedLines } from './bounded-lines.js';

export interface LineProcess {
  /** Output lines, for a single reader. Throws LineTooLongError. */
  readonly lines: AsyncIterable<string>;
  /** Resolves with a description of the exit or of the failed start, such as "was ended by SIGKILL". Never rejects. */
  readonly ended: Promise<string>;
  /** Drops the line if stdin is closed. */
  send(line: string): void;
  /** Closes stdin, and kills the child after `graceMs`. */
  close(): Promise<void>;
  kill(): void;
  /** Keeps the event loop alive until `unref`. */
  ref(): void;
  unref(): void;
}

export interface LineProcessOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly maxLineBytes: number;
  readonly graceMs: number;
}

export const startLineProcess = (options: LineProcessOptions): LineProcess => {
  const { command, cwd, env, maxLineBytes, graceMs } = options;
  const [program = '', ...args] = command;
  let stderrText = '';
  // Own process group, because the embedding program decides about Ctrl-C.
  const child: ChildProcess = spawn(program, args, { cwd, env: { ...env }, detached: true });
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(`could not be started: ${message}`));
    child.once('close', (code, signal) => resolve(describeEnd(code, signal, stderrText)));
  });
  const { stdin, stdout, stderr } = child;
  // The pipes are missing if the process has no free descriptors.
  if (!(stdin && stdout && stderr)) return { ...NOT_STARTED, ended };
  stdin.on('error', () => undefined);
  stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrText = `${stderrText}${text}`.slice(-MAX_STDERR_LENGTH);
  });
  const handles = [child, stdin as Socket, stdout as Socket, stderr as Socket];
  return {
    lines: boundedLines(stdout, maxLineBytes),
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

/** Maximum length of the kept stderr. Its end is kept, because it has the reason for a failure. */
const MAX_STDERR_LENGTH = 2_000;

const describeEnd = (
  code: number | null,
  signal: NodeJS.Signals | null,
  stderrText: string,
): string => {
  if (signal !== null) return `was ended by ${signal}`;
  const [lastLine] = stderrText.trimEnd().split('\n').slice(-1);
  const message = lastLine?.replaceAll(/\p{Cc}/gu, '').slice(0, 300) ?? '';
  return `ended by itself with exit code ${code}${message === '' ? '' : `, saying "${message}"`}`;
};
