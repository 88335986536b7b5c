/** Bench: the tools that every row is measured with. */
import type { Arena } from './arena.js';
import type { Contenders, Name, Trace } from './contender.js';
import { startSimulatorProcess } from './simulator-process.js';

export interface Bench {
  readonly arena: Arena;
  readonly contenders: Contenders;
  /** True for a smoke run, whose figures mean little. */
  readonly quick: boolean;
  /** True for the report of a change: quick, with enough rounds of a start for a verdict. */
  readonly brief: boolean;
  /** Runs the floor and Skein alternately, so that a machine that slows down affects both. */
  repeat<T>(
    rounds: number,
    run: (name: Name) => Promise<T>,
  ): Promise<Record<'floor' | 'ours', T[]>>;
  /** Measures both with a new simulator. */
  measure(prompt: string, rounds: number): Promise<Record<'floor' | 'ours', Trace[]>>;
}

export const benchOf = (
  arena: Arena,
  contenders: Contenders,
  { quick, brief }: Pick<Bench, 'quick' | 'brief'>,
): Bench => {
  const repeat: Bench['repeat'] = async (rounds, run) => {
    const figures = { floor: [], ours: [] } as Record<
      'floor' | 'ours',
      Awaited<ReturnType<typeof run>>[]
    >;
    for (let round = 0; round < rounds; round += 1) {
      figures.floor.push(await run('floor'));
      figures.ours.push(await run('ours'));
    }
    return figures;
  };
  return {
    arena,
    contenders,
    quick: quick || brief,
    brief,
    repeat,
    async measure(prompt, rounds) {
      const simulator = await startSimulatorProcess(arena);
      try {
        return await repeat(rounds, (name) => contenders.measure(name, prompt, simulator.url));
      } finally {
        await simulator.close();
      }
    },
  };
};
