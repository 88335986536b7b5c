/** Two processes of one of the programs here that work together: one answers, the other begins and measures. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { end } from './simulator-process.js';

export type Role = 'answers' | 'begins';

/** What the one that begins has written on its last line. */
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
  if (child.stdout === null) throw new Error('It says nothing.');
  const died = once(child, 'exit').then(() => {
    throw new Error('It has ended before it said anything.');
  });
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), died])) as [
    string,
  ];
  died.catch(() => {});
  return line;
};

/** On the standard output, for whoever started it. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`);
