/** Runs two processes of a program: one answers, the other starts and measures. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { end } from './simulator-process.js';

export type Role = 'answers' | 'begins';

/** Resolves with the figures that the measuring process prints. */
export const measurePeers = async <Figures>(
  program: string,
  args: readonly string[],
): Promise<Figures> => {
  const answering = start(program, 'answers', args);
  try {
    await firstLine(answering);
    const beginning = start(program, 'begins', args);
    try {
      return JSON.parse(await firstLine(beginning)) as Figures;
    } finally {
      await end(beginning);
    }
  } finally {
    await end(answering);
  }
};

const start = (program: string, role: Role, args: readonly string[]): ChildProcess =>
  spawn(process.execPath, ['--import', 'tsx', program, role, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

const firstLine = async (child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error('The process has no standard output.');
  const exited = once(child, 'exit').then(() => {
    throw new Error('The process has ended without output.');
  });
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), exited])) as [
    string,
  ];
  exited.catch(() => {});
  return line;
};

/** Prints a line for the parent process. */
export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
