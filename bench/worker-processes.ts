/** Workers that take queued agents, each a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Arena } from './arena.js';
import { end } from './simulator-process.js';

export interface WorkerTerms {
  readonly count: number;
  /** Agents at once, of each. */
  readonly concurrency: number;
  /** Of the server that stands in for the API. */
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
}

export interface WorkerProcesses {
  readonly pids: readonly number[];
  close(): Promise<void>;
}

/** Resolves when all of them take jobs. */
export const startWorkers = async (arena: Arena, terms: WorkerTerms): Promise<WorkerProcesses> => {
  const workers = await Promise.all(
    Array.from({ length: terms.count }, () => startWorker(arena, terms)),
  );
  return {
    pids: workers.map(({ pid }) => pid ?? 0),
    close: async () => void (await Promise.all(workers.map(end))),
  };
};

const startWorker = async (arena: Arena, terms: WorkerTerms): Promise<ChildProcess> => {
  const { concurrency, url, env, nodeArgs = [] } = terms;
  const args = ['worker', '--concurrency', String(concurrency), '--json'];
  const child = spawn(process.execPath, [...nodeArgs, arena.skein, ...args], {
    cwd: arena.workspace,
    env: {
      PATH: process.env.PATH,
      HOME: arena.home,
      SKEIN_HOME: arena.skeinHome,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'bench',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(createInterface(child.stderr), 'line');
  return child;
};
