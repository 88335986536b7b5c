/** Rows for the cost of a delta: the same text in many deltas and in a single delta. */
import type { Bench } from './bench.js';
import type { Name } from './contender.js';
import { DELTAS, PROMPTS } from './playbook.js';
import type { Row } from './row.js';
import { startSimulatorProcess } from './simulator-process.js';

export const deltas = async (bench: Bench): Promise<readonly Row[]> => {
  const simulator = await startSimulatorProcess(bench.arena);
  const cpu = async (name: Name, prompt: string): Promise<number> => {
    const trace = await bench.contenders.measure(name, prompt, simulator.url);
    return (trace.at(-1)?.cpu ?? Number.NaN) - (trace[0]?.cpu ?? Number.NaN);
  };
  const perDelta = async (name: Name): Promise<number> => {
    const oneDeltaCpu = await cpu(name, PROMPTS.oneDelta);
    return ((await cpu(name, PROMPTS.manyDeltas)) - oneDeltaCpu) / (DELTAS - 1);
  };
  const rounds = bench.quick ? 1 : 7;
  try {
    const watched: number[] = [];
    const figures = await bench.repeat(rounds, async (name) => {
      if (name === 'ours') watched.push(await perDelta('watched'));
      return perDelta(name);
    });
    const what = `CPU per delta, ${DELTAS} in one turn`;
    return [
      { id: 'delta-cpu', what, unit: 'µs', target: 1.5, ...figures },
      {
        id: 'delta-cpu-watched',
        what: `${what}, each printed`,
        unit: 'µs',
        floor: figures.floor,
        ours: watched,
      },
    ];
  } finally {
    await simulator.close();
  }
};
