/** Rows for the cost of `skein top` on a terminal, with agents that are always busy. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.js';
import { cpuOf } from './process-figures.js';
import type { Row } from './row.js';
import { end } from './simulator-process.js';

const AGENTS = 500;
const PER_SECOND = 10;
const SESSION = 'busy';
const [COLUMNS, ROWS] = [160, 50];
const WARM_UP_MS = 6_000;
const WINDOW_MS = 3_000;

/** Returns ms of CPU per second. The floor is the 1,000 ms of a core. */
export const watching = async ({ arena, quick }: Bench): Promise<readonly Row[]> => {
  if (!hasTmux()) {
    process.stderr.write('There is no tmux: `skein top` is not measured.\n');
    return [];
  }
  const swarm = await startSwarm(join(arena.skeinHome, 'sessions'));
  const terminal = openTerminal(arena.skein, { HOME: arena.home, SKEIN_HOME: arena.skeinHome });
  try {
    await pause(WARM_UP_MS);
    const ours: number[] = [];
    const floor: number[] = [];
    const first = terminal.text();
    for (let round = 0; round < (quick ? 1 : 5); round += 1) {
      const [cpu, began] = [cpuOf(terminal.pid), performance.now()];
      await pause(WINDOW_MS);
      const seconds = (performance.now() - began) / 1_000;
      ours.push((cpuOf(terminal.pid) - cpu) / seconds);
      floor.push(1_000);
    }
    const last = terminal.text();
    if (!last.includes(`${AGENTS} running`) || last === first) {
      throw new Error(`skein top does not show the running agents:\n${last}`);
    }
    const what = `skein top over ${AGENTS} agents with ${PER_SECOND} facts a second each`;
    return [{ id: 'top', what: `${what}, of a core`, unit: 'ms', target: 0.25, floor, ours }];
  } finally {
    terminal.close();
    await end(swarm);
  }
};

const startSwarm = async (sessions: string): Promise<ChildProcess> => {
  const program = join(import.meta.dirname, 'busy-swarm.ts');
  const args = [program, sessions, SESSION, String(AGENTS), String(PER_SECOND)];
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface(child.stdout), 'line');
  return child;
};

const openTerminal = (skein: string, variables: Readonly<Record<string, string>>) => {
  const server = `skein-bench-${process.pid}`;
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  const settings = { LANG: 'C.UTF-8', TERM: 'screen', PATH: process.env.PATH ?? '', ...variables };
  const assignments = Object.entries(settings).map(([name, value]) => `'${name}=${value}'`);
  const command = `exec env -i ${assignments.join(' ')} '${process.execPath}' '${skein}' top ${SESSION}`;
  tmux('new-session', '-d', '-x', String(COLUMNS), '-y', String(ROWS), command);
  return {
    pid: Number(tmux('display', '-p', '#{pane_pid}')),
    text: () => tmux('capture-pane', '-p'),
    close: () => void tmux('kill-server'),
  };
};

const hasTmux = (): boolean => {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
