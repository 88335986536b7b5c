/** Starts the simulator in its own process, so that its work is not counted. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Arena } from './arena.js';
import { PLAYBOOK } from './playbook.js';

export interface SimulatorProcess {
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

export const startSimulatorProcess = async (
  arena: Arena,
  playbook: object = PLAYBOOK,
): Promise<SimulatorProcess> => {
  const script = join(arena.root, 'playbook.json');
  writeFileSync(script, JSON.stringify(playbook));
  const child = spawn(process.execPath, [arena.skein, 'sim', '--script', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { url, pid: child.pid ?? 0, close: () => end(child) };
};

export const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
};
