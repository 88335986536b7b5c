/** Starts fixtures as processes, for tests of stores that several processes share. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './session-folder.js';

/** Defines `require`, which CommonJS packages in the bundle call. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Compiles a fixture to plain JavaScript, because processes start faster without a compiler. */
export const bundled = async (name: string): Promise<string> => {
  const outfile = join(temporaryFolder(), `${name}.mjs`);
  const entryPoints = [`tests/store/fixtures/${name}.ts`];
  const banner = { js: REQUIRE };
  await build({ entryPoints, outfile, banner, bundle: true, platform: 'node', format: 'esm' });
  return outfile;
};

/** The integers from 1 to `count`. */
export const numbers = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index + 1);

/** A process that reads commands from lines and answers in lines. */
export interface Worker {
  readonly pid: number | undefined;
  tell(line: string): void;
  /** Returns the next line of output. Rejects if the process has ended. */
  answer(): Promise<string>;
  kill(): Promise<void>;
}

export const startWorker = (program: string, ...args: readonly string[]): Worker => {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [program, ...args],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(kill);
  return {
    pid: child.pid,
    tell: (line) => void child.stdin.write(`${line}\n`),
    async answer() {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('The process has ended without an answer.');
      return String(value);
    },
    kill,
  };
};
