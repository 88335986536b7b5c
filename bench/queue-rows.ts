/** Rows for agents on workers, for jobs of the queue, and for letters between processes. */
import { once } from 'node:events';
import { join } from 'node:path';
import type { Arena } from './arena.js';
import type { Bench } from './bench.js';
import type { Trace } from './contender.js';
import type { JobFigures } from './job-peers.js';
import type { LetterFigures } from './letter-peers.js';
import { measurePeers } from './peers.js';
import { cpuOf } from './process-figures.js';
import { startRecorder } from './recorder.js';
import { hasRedis, startRedisProcess } from './redis-process.js';
import type { Row } from './row.js';
import { startSimulatorProcess } from './simulator-process.js';
import { FEW, limitsFor, type SwarmKit, swarmKit } from './swarm-kit.js';
import { MS_TO_FIRST_TOKEN, SWARM_PROMPTS, swarmPlaybook } from './swarm-playbook.js';
import { startWorkers } from './worker-processes.js';

const WIDTH = 1_000;
/** One worker for each core. */
const WORKERS = 2;
/** Number of agents that each worker runs before the measurement. */
const WARM_UP = 50;

const ONE_WORKER = { count: 1, concurrency: FEW };

interface Spent {
  readonly ms: number;
  /** µs of CPU of all processes except the simulator. */
  readonly cpu: number;
}

/** Prints a sentence and returns no rows if there is no redis-server. */
const withRedis =
  (measure: (bench: Bench) => Promise<readonly Row[]>) =>
  async (bench: Bench): Promise<readonly Row[]> => {
    if (hasRedis()) return measure(bench);
    process.stderr.write('There is no redis-server on the PATH, so this is left out.\n');
    return [];
  };

/** Checks that agents on a worker send the same requests as agents in the process of their lead. */
const checkQueued = async (arena: Arena, kit: SwarmKit): Promise<void> => {
  const simulator = await startSimulatorProcess(arena, swarmPlaybook([FEW]));
  const recorder = await startRecorder(simulator.url);
  const redis = await startRedisProcess();
  const env = { SKEIN_REDIS_URL: redis.url };
  const workers = await startWorkers(arena, { ...ONE_WORKER, url: recorder.url, env });
  try {
    const lead = kit.contenders(FEW, env);
    await once(lead.start('ours', SWARM_PROMPTS.queue(FEW), recorder.url), 'exit');
    kit.checkChildren(recorder.bodies);
  } finally {
    await workers.close();
    await redis.close();
    recorder.close();
    await simulator.close();
  }
};

export const queuedAgents = withRedis(async ({ arena, quick, repeat }) => {
  const kit = await swarmKit(arena);
  await checkQueued(arena, kit);
  const playbook = swarmPlaybook([WIDTH, WORKERS * WARM_UP], MS_TO_FIRST_TOKEN);
  const simulator = await startSimulatorProcess(arena, playbook);
  const redis = await startRedisProcess();
  const env = { SKEIN_REDIS_URL: redis.url };
  const workers = await startWorkers(arena, {
    count: WORKERS,
    concurrency: WIDTH / WORKERS,
    url: simulator.url,
    env: { ...limitsFor(WIDTH), ...env },
  });
  const others = [redis.pid, ...workers.pids];
  try {
    const floor = kit.contenders(WIDTH);
    const queued = kit.contenders(WIDTH, env);
    await queued.measure('ours', SWARM_PROMPTS.queue(WORKERS * WARM_UP), simulator.url);
    const spent = await repeat(quick ? 1 : 7, async (name): Promise<Spent> => {
      if (name === 'floor') {
        return spentIn(await floor.measure(name, SWARM_PROMPTS.fanOut(WIDTH), simulator.url));
      }
      const before = others.map(cpuOf);
      const trace = await queued.measure(name, SWARM_PROMPTS.queue(WIDTH), simulator.url);
      const cpu = others.map((pid, at) => cpuOf(pid) - (before[at] ?? 0));
      return spentIn(
        trace,
        cpu.reduce((sum, ms) => sum + ms * 1_000, 0),
      );
    });
    const figures = (figure: (spent: Spent) => number) => ({
      floor: spent.floor.map(figure),
      ours: spent.ours.map(figure),
    });
    const what = '1,000 queued agents';
    return [
      {
        id: 'queued-agents',
        what: `${what}, time`,
        unit: 'ms',
        target: 1.5,
        ...figures(({ ms }) => ms),
      },
      {
        id: 'queued-agents-cpu',
        what: `${what}, CPU per agent`,
        unit: 'µs',
        ...figures(({ cpu }) => cpu / WIDTH),
      },
    ];
  } finally {
    await workers.close();
    await redis.close();
    await simulator.close();
  }
});

/** Returns time and CPU from the first request to the end. `others`: µs of CPU of other processes. */
const spentIn = (trace: Trace, others = 0): Spent => {
  const [first, last] = [trace[0], trace.at(-1)];
  if (first === undefined || last === undefined) throw new Error('Nothing was sent.');
  return { ms: last.ms - first.ms, cpu: last.cpu - first.cpu + others };
};

/** Measures with a new server, so that no data of an earlier measurement is left. */
const runPeers = async <Figures>(
  program: string,
  kind: string,
  count: number,
): Promise<Figures> => {
  const redis = await startRedisProcess();
  try {
    const path = join(import.meta.dirname, program);
    return await measurePeers<Figures>(path, [kind, redis.socket, String(count)]);
  } finally {
    await redis.close();
  }
};

export const jobs = withRedis(async ({ quick }) => {
  const kinds = ['bare', 'queue', 'whole'] as const;
  const figures: Record<(typeof kinds)[number], number[]> = { bare: [], queue: [], whole: [] };
  for (let round = 0; round < (quick ? 1 : 7); round += 1) {
    for (const kind of kinds) {
      figures[kind].push((await runPeers<JobFigures>('job-peers.ts', kind, 2_000)).perJob);
    }
  }
  const row = { unit: 'µs', floor: figures.bare } as const;
  return [
    { id: 'jobs', what: 'a job, added, taken and done', ...row, ours: figures.queue },
    { id: 'jobs-whole', what: 'a job with its journal and report', ...row, ours: figures.whole },
  ];
});

export const letters = withRedis(async ({ quick, repeat }) => {
  const figures = await repeat(quick ? 1 : 7, (name) =>
    runPeers<LetterFigures>('letter-peers.ts', name === 'floor' ? 'bare' : 'ours', 10_000),
  );
  const row = (id: string, what: string, figure: (figures: LetterFigures) => number): Row => ({
    id,
    what,
    unit: 'µs',
    floor: figures.floor.map(figure),
    ours: figures.ours.map(figure),
  });
  return [
    row('letters', 'a letter, as many as can be', ({ perLetter }) => perLetter),
    row('letters-p50', 'a letter, one way, p50', ({ oneWay }) => oneWay.p50),
    row('letters-p99', 'a letter, one way, p99', ({ oneWay }) => oneWay.p99),
    row('replies-p50', 'a letter and its answer, p50', ({ answered }) => answered.p50),
    row('replies-p99', 'a letter and its answer, p99', ({ answered }) => answered.p99),
  ];
});
