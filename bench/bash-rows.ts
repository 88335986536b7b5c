/** Rows for the latency that checkpoints add to a Bash call that may change files. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './bench.js';
import { contenders } from './contender.js';
import { generateRepository, gitStatusTime } from './generated-repository.js';
import { startRecorder } from './recorder.js';
import type { Row } from './row.js';
import { startSimulatorProcess } from './simulator-process.js';
import { median } from './statistics.js';
import { MS_TO_FIRST_TOKEN } from './swarm-playbook.js';

const PROMPT = 'Run commands.';
/**
 * Calls that change a file, the first of them in an unknown workspace. Before them a call that changes nothing, which
 * starts the watchdog of child processes, and after them as many as they are.
 */
const CALLS = 8;
const ROUNDS = 9;
/** Targets that no repository of the row scales: more latency in a small workspace, and a stall of the event loop. */
const [SMALL_MS, STALL_MS] = [20, 20];

const bash = (max: number, command: string) => ({
  match: { firstUser: PROMPT, turn: { max } },
  reply: { tool_use: [{ name: 'Bash', input: { command } }], delayMs: MS_TO_FIRST_TOKEN },
});

const PLAYBOOK = {
  rules: [
    bash(0, 'head -c 1 /dev/null'),
    bash(CALLS, 'echo {{turn}} > out.txt'),
    bash(2 * CALLS, 'head -c 1 out.txt'),
    { reply: { text: 'Done.', delayMs: MS_TO_FIRST_TOKEN } },
  ],
};

interface Workspace {
  readonly files: number;
  readonly withGit: boolean;
}

interface BashFigures {
  /** ms from the end of the answer to the next request. */
  readonly first: number;
  readonly later: number;
  readonly readOnly: number;
  readonly stall: number;
}

export const bashCalls = async (bench: Bench): Promise<readonly Row[]> => {
  const sizes = bench.brief ? [5_000] : bench.quick ? [50] : [50, 5_000, 50_000];
  const workspaces = sizes.flatMap((files) => [
    { files, withGit: true },
    { files, withGit: false },
  ]);
  const rows: Row[] = [];
  for (const workspace of workspaces) rows.push(...(await measureWorkspace(bench, workspace)));
  return rows;
};

const measureWorkspace = async (
  { arena, quick }: Bench,
  { files, withGit }: Workspace,
): Promise<readonly Row[]> => {
  const workspace = join(arena.root, 'repository');
  generateRepository(workspace, files, withGit);
  const simulator = await startSimulatorProcess(arena, PLAYBOOK);
  const figures: BashFigures[] = [];
  const statusTimes: number[] = [];
  try {
    // The floor of a workspace without git is the same tree with git.
    const other = withGit ? workspace : join(arena.root, 'with-git');
    if (!withGit) generateRepository(other, files, true);
    for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) {
      gitStatusTime(other);
      statusTimes.push(gitStatusTime(other));
      figures.push(await measureRun(arena, workspace, simulator.url));
    }
    rmSync(other, { recursive: true, force: true });
  } finally {
    await simulator.close();
    rmSync(workspace, { recursive: true, force: true });
  }
  const name = `Bash in ${files.toLocaleString('en')} files, ${withGit ? 'git' : 'no git'}`;
  const id = `bash-${files}-${withGit ? 'git' : 'plain'}`;
  const isSmall = files < 1_000;
  const constant = (ms: number) => figures.map(() => ms);
  return [
    {
      id: `${id}-later`,
      what: `${name}: added latency, against ${isSmall ? `${SMALL_MS} ms` : '`git status`'}`,
      unit: 'ms',
      target: 1,
      floor: isSmall ? constant(SMALL_MS) : statusTimes,
      ours: figures.map(({ later, readOnly }) => later - readOnly),
    },
    {
      id: `${id}-first`,
      what: `${name}: first call, against a later one`,
      unit: 'ms',
      target: 2,
      floor: figures.map(({ later }) => later),
      ours: figures.map(({ first }) => first),
    },
    {
      id: `${id}-stall`,
      what: `${name}: longest stall, against ${STALL_MS} ms`,
      unit: 'ms',
      target: 1,
      floor: constant(STALL_MS),
      ours: figures.map(({ stall }) => stall),
    },
  ];
};

/** Runs a session in a new state directory, so that its first call knows no file. */
const measureRun = async (
  arena: Bench['arena'],
  workspace: string,
  url: string,
): Promise<BashFigures> => {
  const recorder = await startRecorder(url);
  const skeinHome = join(arena.root, 'bash-home');
  const probe = join(arena.root, 'stall.json');
  mkdirSync(skeinHome);
  try {
    const env = { SKEIN_HOME: skeinHome, BENCH_PROBE: probe };
    const skeinArgs = ['--allowed-tools', 'Bash'];
    const run = contenders({ ...arena, workspace }, { head: '', skeinArgs, env });
    const nodeArgs = ['--require', join(import.meta.dirname, 'stall-probe.cjs')];
    const [code] = await once(run.start('ours', PROMPT, recorder.url, nodeArgs), 'exit');
    const latencies = recorder.exchanges.flatMap(({ answeredAt }, index) => {
      const next = recorder.exchanges[index + 1];
      return next === undefined ? [] : [next.arrivedAt - answeredAt];
    });
    if (code !== 0 || latencies.length !== 2 * CALLS + 1) {
      throw new Error(`The run of commands ended with ${code} after ${latencies.length} calls.`);
    }
    const [first = Number.NaN, ...later] = latencies.slice(1, CALLS + 1);
    return {
      first,
      later: median(later),
      readOnly: median(latencies.slice(CALLS + 1)),
      stall: Number(readFileSync(probe, 'utf8')),
    };
  } finally {
    recorder.close();
    rmSync(skeinHome, { recursive: true, force: true });
  }
};
