/** What agents on workers cost, the jobs that they are, and the letters that processes write to each other. */
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
/** As many as there are cores: each is a thread at work without a pause. */
const WORKERS = 2;
/** So many agents each worker has had before anything is timed. */
const WARM_UP = 50;

const ONE_WORKER = { count: 1, concurrency: FEW };

interface Spent {
  readonly ms: number;
  /** µs of all processes but the server's. */
  readonly cpu: number;
}

/** A sentence and no rows where there is no redis-server. */
const withRedis =
  (measure: (bench: Bench) => Promise<readonly Row[]>) =>
  async (bench: Bench): Promise<readonly Row[]> => {
    if (hasRedis()) return measure(bench);
    process.stderr.write('There is no redis-server on the PATH, so this is left out.\n');
    return [];
  };

/** A few on a worker send what they send in the process of their lead. */
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
    const ours = kit.contenders(WIDTH, env);
    await ours.measure('ours', SWARM_PROMPTS.queue(WORKERS * WARM_UP), simulator.url);
    const spent = await repeat(quick ? 1 : 7, async (name): Promise<Spent> => {
      if (name === 'floor') {
        return spentIn(await floor.measure(name, SWARM_PROMPTS.fanOut(WIDTH), simulator.url));
      }
      const before = others.map(cpuOf);
      const trace = await ours.measure(name, SWARM_PROMPTS.queue(WIDTH), simulator.url);
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

/** From the first request to the end; `others` is what other processes used meanwhile. */
const spentIn = (trace: Trace, others = 0): Spent => {
  const [first, last] = [trace[0], trace.at(-1)];
  if (first === undefined || last === undefined) throw new Error('Nothing was sent.');
  return { ms: last.ms - first.ms, cpu: last.cpu - first.cpu + others };
};

/** On a server of its own: nothing is left of the one before. */
const peers = async <Figures>(program: string, kind: string, many: number): Promise<Figures> => {
  const redis = await startRedisProcess();
  try {
    const path = join(import.meta.dirname, program);
    return await measurePeers<Figures>(path, [kind, redis.socket, String(many)]);
  } finally {
    await redis.close();
  }
};

export const jobs = withRedis(async ({ quick }) => {
  const kinds = ['bare', 'queue', 'whole'] as const;
  const each: Record<(typeof kinds)[number], number[]> = { bare: [], queue: [], whole: [] };
  for (let round = 0; round < (quick ? 1 : 7); round += 1) {
    for (const kind of kinds) {
      each[kind].push((await peers<JobFigures>('job-peers.ts', kind, 2_000)).each);
    }
  }
  const row = { unit: 'µs', floor: each.bare } as const;
  return [
    { id: 'jobs', what: 'a job, added, taken and done', ...row, ours: each.queue },
    { id: 'jobs-whole', what: 'a job with its journal and report', ...row, ours: each.whole },
  ];
});

export const letters = withRedis(async ({ quick, repeat }) => {
  const figures = await repeat(quick ? 1 : 7, (name) =>
    peers<LetterFigures>('letter-peers.ts', name === 'floor' ? 'bare' : 'ours', 10_000),
  );
  const row = (id: string, what: string, figure: (figures: LetterFigures) => number): Row => ({
    id,
    what,
    unit: 'µs',
    floor: figures.floor.map(figure),
    ours: figures.ours.map(figure),
  });
  return [
    row('letters', 'a letter, as many as can be', ({ each }) => each),
    row('letters-p50', 'a letter, one way, p50', ({ oneWay }) => oneWay.p50),
    row('letters-p99', 'a letter, one way, p99', ({ oneWay }) => oneWay.p99),
    row('replies-p50', 'a letter and its answer, p50', ({ answered }) => answered.p50),
    row('replies-p99', 'a letter and its answer, p99', ({ answered }) => answered.p99),
  ];
});
