/** Rows for the time until the first request, and for the memory while the process waits for the answer. */
import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.js';
import { contenders, type Name } from './contender.js';
import { startObserver } from './observer.js';
import { PROMPTS } from './playbook.js';
import { cpuOf, memoryOf } from './process-figures.js';
import type { Row } from './row.js';
import { end } from './simulator-process.js';

/** Time until work after the first request has ended. */
const SETTLE_MS = 700;

/** Maximum ratios. The first run after an install compiles the program. */
const [START, FIRST_RUN] = [0.65, 1.05];

type Start = (name: Name, url: string) => ChildProcess;

const firstRequest = async <T>(
  { repeat }: Bench,
  rounds: number,
  start: Start,
  measure: (pid: number, ms: number) => T | Promise<T>,
): Promise<Record<'floor' | 'ours', T[]>> => {
  const observer = await startObserver();
  const measureOnce = async (name: Name): Promise<T> => {
    const arrival = observer.arrival();
    const began = performance.now();
    const child = start(name, observer.url);
    try {
      const ms = (await arrival) - began;
      return await measure(child.pid ?? 0, ms);
    } finally {
      await end(child);
    }
  };
  try {
    await measureOnce('floor');
    await measureOnce('ours');
    return await repeat(rounds, measureOnce);
  } finally {
    observer.close();
  }
};

const inArena =
  ({ contenders }: Bench): Start =>
  (name, url) =>
    contenders.start(name, PROMPTS.loop, url);

const AGENTS = ['reviewer', 'tester', 'writer'];
const INSTRUCTIONS = `# Rules\n\n${'- Name files by their path, and run the tests of a folder that you change.\n'.repeat(20)}`;
const HOOK = { matcher: 'Edit|Write', hooks: [{ type: 'command', command: 'true' }] };

/** Starts Skein with three agent definitions, hooks of two events and two files of instructions. */
const configured = (bench: Bench): Start => {
  const { arena } = bench;
  const workspace = join(arena.root, 'configured');
  const skeinHome = join(arena.root, 'configured-home');
  const agents = join(workspace, '.claude/agents');
  mkdirSync(agents, { recursive: true });
  cpSync(arena.skeinHome, skeinHome, { recursive: true });
  // Compiled code is used only from a private folder.
  const code = join(skeinHome, 'cache/code');
  if (existsSync(code)) chmodSync(code, 0o700);
  for (const agent of AGENTS) {
    const fields = `name: ${agent}\ndescription: A ${agent} of changes\ntools: Read, Grep, Bash(git log:*)\nmaxTurns: 20`;
    writeFileSync(join(agents, `${agent}.md`), `---\n${fields}\n---\n\nYou are a ${agent}.\n`);
  }
  for (const folder of [workspace, skeinHome]) {
    writeFileSync(join(folder, 'CLAUDE.md'), INSTRUCTIONS);
  }
  const settings = join(skeinHome, 'settings.json');
  const rules = JSON.parse(readFileSync(settings, 'utf8')) as object;
  const hooks = { PreToolUse: [HOOK], PostToolUse: [HOOK] };
  writeFileSync(settings, JSON.stringify({ ...rules, hooks }));
  const env = { SKEIN_HOME: skeinHome };
  const head = join(arena.root, 'head.json');
  const pair = contenders({ ...arena, workspace, skeinHome }, { head, env });
  return (name, url) => pair.start(name, PROMPTS.loop, url);
};

/** Starts Skein without code that V8 has compiled, each time with an empty home. */
const firstRun = (bench: Bench): Start => {
  const { arena } = bench;
  const dist = join(arena.root, 'installed');
  cpSync(dirname(arena.skein), dist, {
    recursive: true,
    filter: (path) => !path.endsWith('.cache'),
  });
  const head = join(arena.root, 'head.json');
  const home = join(arena.root, 'first-home');
  const skein = join(dist, basename(arena.skein));
  const pair = contenders(
    { ...arena, home, skein },
    { head, env: { SKEIN_HOME: join(home, 'state') } },
  );
  return (name, url) => {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home);
    return pair.start(name, PROMPTS.loop, url);
  };
};

export const coldStart = async (bench: Bench): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  const add = async (id: string, what: string, target: number, start: Start) => {
    const measure = (pid: number, ms: number) => ({ ms, cpu: cpuOf(pid) });
    const rounds = bench.brief ? 7 : bench.quick ? 3 : 15;
    const { floor, ours } = await firstRequest(bench, rounds, start, measure);
    rows.push(
      {
        id,
        what: `${what}, time`,
        unit: 'ms',
        target,
        floor: floor.map(({ ms }) => ms),
        ours: ours.map(({ ms }) => ms),
      },
      {
        id: `${id}-cpu`,
        what: `${what}, CPU`,
        unit: 'ms',
        floor: floor.map(({ cpu }) => cpu),
        ours: ours.map(({ cpu }) => cpu),
      },
    );
  };
  await add('cold-start', 'start to first request', START, inArena(bench));
  const what = 'start with agents, hooks and memory';
  await add('configured-start', what, START, configured(bench));
  await add('first-run', 'first run after an install', FIRST_RUN, firstRun(bench));
  return rows;
};

export const idleMemory = async (bench: Bench): Promise<readonly Row[]> => {
  const rounds = bench.quick ? 1 : 7;
  const figures = await firstRequest(bench, rounds, inArena(bench), async (pid) => {
    await sleep(SETTLE_MS);
    return memoryOf(pid);
  });
  const what = 'resident memory while waiting for the first answer';
  return [{ id: 'idle-memory', what, unit: 'MB', target: 1.1, ...figures }];
};
