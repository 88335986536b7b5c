/** A workspace, a home and a simulator for a law to be tried in, with the real command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JournalRecord, parseRecord } from '../../src/protocol/journal.js';
import { parseScript, type ScriptInput } from '../../src/simulator/script.js';
import { type Simulator, startSimulator } from '../../src/simulator/server.js';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Place {
  readonly home: string;
  readonly workspace: string;
  readonly simulator: Simulator;
  /** Starts `skein` with the simulator as its model. */
  start(args: readonly string[], env?: Record<string, string>): Running;
  run(args: readonly string[], env?: Record<string, string>): Promise<Ended>;
  journal(session: string): JournalRecord[];
  bodies(): Buffer[];
  close(): Promise<void>;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export const makePlace = async (
  script: ScriptInput,
  files: Readonly<Record<string, string>> = {},
): Promise<Place> => {
  const folder = mkdtempSync(join(tmpdir(), 'law-'));
  const home = join(folder, 'home');
  const workspace = join(folder, 'work');
  mkdirSync(home);
  mkdirSync(workspace);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(workspace, name), text, { mode: 0o755 });
  }
  const simulator = await startSimulator({ script: parseScript(script) });
  const start = (args: readonly string[], env: Record<string, string> = {}): Running => {
    const child = spawn(
      process.execPath,
      [...(env.PRELOAD?.split(' ') ?? []), 'dist/skein.js', '-p', ...args, '--cwd', workspace],
      {
        env: {
          ...{ PATH: process.env.PATH, HOME: home, SKEIN_HOME: join(home, 'state') },
          ...{ ANTHROPIC_BASE_URL: simulator.url, ANTHROPIC_API_KEY: 'key', ...env },
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) =>
        resolve({
          ...{ code, signal },
          stdout: Buffer.concat(stdout).toString(),
          stderr: Buffer.concat(stderr).toString(),
        }),
      );
    });
    return { child, ended };
  };
  return {
    home,
    workspace,
    simulator,
    start,
    run: (args, env) => start(args, env).ended,
    journal(session) {
      const agents = join(home, 'state', 'sessions', session, 'agents');
      return readdirSync(agents)
        .filter((name) => name.endsWith('.jsonl'))
        .flatMap((name) => readFileSync(join(agents, name), 'utf8').split('\n'))
        .flatMap((line) => parseRecord(line) ?? []);
    },
    bodies: () => simulator.requests.map(({ body }) => body),
    close: () => simulator.close(),
  };
};
