/** Starts worker processes for queued agents. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Arena } from './arena.js';
import { end } from './simulator-process.js';

export interface WorkerOptions {
  readonly count: number;
  /** Maximum concurrent agents of each worker. */
  readonly concurrency: number;
  /** URL of the simulator. */
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
}

export interface WorkerProcesses {
  readonly pids: readonly number[];
  close(): Promise<void>;
}

/** Resolves when all workers take jobs. */
export const startWorkers = async (
  arena: Arena,
  options: WorkerOptions,
): Promise<WorkerProcesses> => {
  const workers = await Promise.all(
    Array.from({ length: options.count }, () => startWorker(arena, options)),
  );
  return {
    pids: workers.map(({ pid }) => pid ?? 0),
    close: async () => void (await Promise.all(workers.map(end))),
  };
};

const startWorker = async (arena: Arena, options: WorkerOptions): Promise<ChildProcess> => {
  const { concurrency, url, env, nodeArgs = [] } = options;
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
