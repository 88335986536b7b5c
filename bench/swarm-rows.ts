/** Rows for the cost of children: many with three turns each, and many that stream at once. */
import type { Bench } from './bench.js';
import type { Trace } from './contender.js';
import { cpuOf } from './process-figures.js';
import type { Row } from './row.js';
import { type SimulatorProcess, startSimulatorProcess } from './simulator-process.js';
import { type SwarmKit, swarmKit } from './swarm-kit.js';
import {
  DELTAS_PER_AGENT,
  MS_TO_FIRST_TOKEN,
  SWARM_PROMPTS,
  swarmPlaybook,
} from './swarm-playbook.js';

/** Figures from the lead's first request to the end of the process. */
interface Spent {
  readonly ms: number;
  /** CPU in µs. */
  readonly cpu: number;
  /** Maximum growth since the first request, in KB. */
  readonly memory: number;
  /** CPU of the simulator in the same time, in ms. */
  readonly server: number;
}

const WIDTHS = [
  { width: 10, rounds: 9, target: 1.05 },
  { width: 100, rounds: 9, target: 1.1 },
  { width: 1_000, rounds: 9, target: 1.25 },
] as const;

const SPEAKERS = 200;

const spentIn = (trace: Trace, server: number): Spent => {
  const [first, last] = [trace[0], trace.at(-1)];
  if (first === undefined || last === undefined) throw new Error('Nothing was sent.');
  const memory = ((last.memory ?? Number.NaN) - (first.memory ?? Number.NaN)) / 1024;
  return { ms: last.ms - first.ms, cpu: last.cpu - first.cpu, memory, server };
};

const measured = async (
  { repeat }: Bench,
  kit: SwarmKit,
  simulator: SimulatorProcess,
  swarm: { readonly width: number; readonly rounds: number; readonly prompt: string },
): Promise<Record<'floor' | 'ours', Spent[]>> => {
  const contenders = kit.contenders(swarm.width);
  return repeat(swarm.rounds, async (name) => {
    const before = cpuOf(simulator.pid);
    const trace = await contenders.measure(name, swarm.prompt, simulator.url);
    return spentIn(trace, cpuOf(simulator.pid) - before);
  });
};

const both = (spent: Record<'floor' | 'ours', Spent[]>, figure: (spent: Spent) => number) => ({
  floor: spent.floor.map(figure),
  ours: spent.ours.map(figure),
});

export const fanOut = async (bench: Bench): Promise<readonly Row[]> => {
  const kit = await swarmKit(bench.arena);
  const widths = WIDTHS.map(({ width }) => width);
  const simulator = await startSimulatorProcess(
    bench.arena,
    swarmPlaybook(widths, MS_TO_FIRST_TOKEN),
  );
  const rows: Row[] = [];
  const cpu = new Map<number, readonly number[]>();
  try {
    for (const { width, rounds, target } of WIDTHS) {
      const prompt = SWARM_PROMPTS.fanOut(width);
      const actualRounds = bench.quick ? 1 : rounds;
      const spent = await measured(bench, kit, simulator, { width, rounds: actualRounds, prompt });
      const what = `fan-out of ${width}`;
      const perAgent = both(spent, (run) => run.cpu / width);
      cpu.set(width, perAgent.ours);
      rows.push(
        { id: `fan-out-${width}`, what: `${what}, time`, unit: 'ms', target, ...both(spent, ms) },
        {
          id: `fan-out-${width}-cpu`,
          what: `${what}, CPU per agent`,
          unit: 'µs',
          target: 1.4,
          ...perAgent,
        },
        {
          id: `fan-out-${width}-memory`,
          what: `${what}, memory per agent`,
          unit: 'KB',
          target: 1.4,
          ...both(spent, (run) => run.memory / width),
        },
        {
          id: `fan-out-${width}-server`,
          what: `${what}, CPU of the server`,
          unit: 'ms',
          ...both(spent, (run) => run.server),
        },
      );
    }
  } finally {
    await simulator.close();
  }
  const growth = 'CPU per agent of Skein at 1,000, against that at 100';
  const [floor, ours] = [cpu.get(100) ?? [], cpu.get(1_000) ?? []];
  return [...rows, { id: 'fan-out-growth', what: growth, unit: 'µs', target: 1, floor, ours }];
};

const ms = (spent: Spent): number => spent.ms;

export const swarmDeltas = async (bench: Bench): Promise<readonly Row[]> => {
  const kit = await swarmKit(bench.arena);
  const simulator = await startSimulatorProcess(bench.arena, swarmPlaybook([SPEAKERS]));
  try {
    const prompt = SWARM_PROMPTS.speak(SPEAKERS);
    const rounds = bench.quick ? 1 : 5;
    const spent = await measured(bench, kit, simulator, { width: SPEAKERS, rounds, prompt });
    const deltas = SPEAKERS * DELTAS_PER_AGENT;
    const what = `${SPEAKERS} agents with 50 deltas a second each`;
    return [
      {
        id: 'swarm-deltas',
        what: `${what}, CPU per delta`,
        unit: 'µs',
        target: 1.3,
        ...both(spent, ({ cpu }) => cpu / deltas),
      },
      { id: 'swarm-deltas-time', what: `${what}, time`, unit: 'ms', ...both(spent, ms) },
    ];
  } finally {
    await simulator.close();
  }
};
