/** What every row is measured with. */
import type { Arena } from './arena.js';
import type { Contenders, Name, Trace } from './contender.js';
import { startSimulatorProcess } from './simulator-process.js';

export interface Bench {
  readonly arena: Arena;
  readonly contenders: Contenders;
  /** A smoke run: the figures mean little. */
  readonly quick: boolean;
  /** Floor and ours in turn, so that a machine that slows down slows both. */
  repeat<T>(
    rounds: number,
    run: (name: Name) => Promise<T>,
  ): Promise<Record<'floor' | 'ours', T[]>>;
  /** The same against a simulator of its own. */
  measure(prompt: string, rounds: number): Promise<Record<'floor' | 'ours', Trace[]>>;
}

export const benchOf = (arena: Arena, contenders: Contenders, quick: boolean): Bench => {
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
    quick,
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
