/** Contenders: the two compared programs, each in its own process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Arena } from './arena.js';

export type Name = 'floor' | 'ours' | 'watched';

export interface Sample {
  readonly ms: number;
  /** µs of all threads, user and system. */
  readonly cpu: number;
  /** Resident bytes, in some samples only. The last sample has the maximum. */
  readonly memory: number | null;
}

/** A sample at each request and one at the end. */
export type Trace = readonly Sample[];

/** Inputs of the two programs besides the prompt. */
export interface Kit {
  /** File with the part of Skein's request before the messages. The floor sends the same. */
  readonly head: string;
  readonly floorArgs?: readonly string[];
  readonly skeinArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Contenders {
  start(name: Name, prompt: string, url: string, nodeArgs?: readonly string[]): ChildProcess;
  /** Runs the program to its end with the probe preloaded. */
  measure(name: Name, prompt: string, url: string): Promise<Trace>;
}

const pathOf = (file: string) => join(import.meta.dirname, file);

export const contenders = (arena: Arena, kit: Kit): Contenders => {
  const { head, floorArgs = [], skeinArgs = [], env = {} } = kit;
  const probeFile = join(arena.root, 'probe.json');
  const outputFile = join(arena.root, 'stdout');
  const command = (name: Name, prompt: string): readonly string[] => {
    if (name === 'floor') return [pathOf('floor.mjs'), head, prompt, ...floorArgs];
    const format = ['--output-format', 'stream-json'];
    const watched = name === 'watched' ? ['--include-partial-messages'] : [];
    return [arena.skein, '-p', prompt, ...format, ...watched, ...skeinArgs];
  };
  const start: Contenders['start'] = (name, prompt, url, nodeArgs = []) => {
    const output = openSync(outputFile, 'w');
    try {
      return spawn(process.execPath, [...nodeArgs, ...command(name, prompt)], {
        cwd: arena.workspace,
        env: {
          PATH: process.env.PATH,
          HOME: arena.home,
          SKEIN_HOME: arena.skeinHome,
          ANTHROPIC_BASE_URL: url,
          ANTHROPIC_API_KEY: 'bench',
          BENCH_PROBE: probeFile,
          ...env,
        },
        stdio: ['ignore', output, 'inherit'],
      });
    } finally {
      closeSync(output);
    }
  };
  return {
    start,
    async measure(name, prompt, url) {
      rmSync(probeFile, { force: true });
      const child = start(name, prompt, url, ['--require', pathOf('probe.cjs')]);
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`${name} ended with ${code} at "${prompt}".`);
      const samples = JSON.parse(readFileSync(probeFile, 'utf8')) as [
        number,
        number,
        number | null,
      ][];
      return samples.map(([ms, cpu, memory]) => ({ ms, cpu, memory }));
    },
  };
};
