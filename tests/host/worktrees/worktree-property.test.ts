import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Settlement, WorktreeLocation } from '../../../src/protocol/tools/worktrees.js';
import { needs } from '../../setup/needs.js';
import { randomSeed } from '../../setup/random-seed.js';
import { IS_WIDE } from '../../setup/wide.js';
import { type WorktreeRig, worktreeRig } from './worktree-rig.js';

/** Returns a deterministic random number generator. */
const randomOf = (seed: number) => {
  let state = seed;
  return (max: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
};

const FILES = ['a.txt', 'b.txt', 'dir/c.txt', 'dir/d.txt', 'e.txt'];

interface Worker {
  readonly agent: string;
  readonly place: WorktreeLocation;
  /** Lines that only this agent writes, by file. */
  readonly wrote: Map<string, string[]>;
}

/** Creates, edits and deletes files. Each written line is unique. */
const work = (random: (max: number) => number, { agent, place, wrote }: Worker): void => {
  for (let step = 0; step < 4; step += 1) {
    const name = FILES[random(FILES.length)] ?? 'a.txt';
    const path = join(place.path, name);
    const own = `${agent} wrote line ${step} of ${name}`;
    if (existsSync(path) && random(4) === 0) {
      rmSync(path);
      wrote.delete(name);
      continue;
    }
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
    const at = random(lines.length + 1);
    lines.splice(at, random(2), own);
    rig.change(place, { [name]: `${lines.join('\n')}\n` });
    // An agent may replace its own line.
    const mine = [...(wrote.get(name) ?? []), own].filter((line) => lines.includes(line));
    wrote.set(name, mine);
  }
};

let rig: WorktreeRig;

const keptOn = (branch: string, name: string): string => {
  try {
    return rig.repo.git('show', `${branch}:${name}`);
  } catch {
    return '';
  }
};

needs.describe('git')('five agents with random edits in worktrees', () => {
  test.each(IS_WIDE ? [1, 2, 3, 4, 5, 6] : [randomSeed, randomSeed + 1])(
    'lose no line: each is merged, or kept with a conflict (seed %i)',
    async (seed) => {
      const random = randomOf(seed);
      const lines = (name: string) =>
        Array.from({ length: 12 }, (_, at) => `${name} ${at}\n`).join('');
      rig = worktreeRig(Object.fromEntries(FILES.slice(0, 4).map((name) => [name, lines(name)])));
      rig.repo.put('dirty.txt', 'of the user\n');
      const workers: Worker[] = [];
      for (let at = 0; at < 5; at += 1) {
        const agent = `a_${at}`;
        workers.push({ agent, place: await rig.open(agent), wrote: new Map() });
      }
      for (const worker of workers) work(random, worker);
      const ends = new Map<Worker, Settlement>();
      const order = workers.map((worker) => ({ worker, key: random(1_000_000) }));
      for (const { worker } of order.sort((a, b) => a.key - b.key)) {
        const before = FILES.map((name) => rig.read(name));
        const end = await rig.settle(worker.agent, worker.place);
        ends.set(worker, end);
        const after = FILES.map((name) => rig.read(name));
        expect(end.kind === 'merged' ? [] : after).toEqual(end.kind === 'merged' ? [] : before);
      }
      // A merge may put a line into a renamed file.
      const merged = FILES.map((name) => rig.read(name) ?? '').join('');
      for (const [{ agent, place, wrote }, end] of ends) {
        expect(['merged', 'conflict', 'unchanged']).toContain(end.kind);
        const isKept = end.kind === 'conflict';
        expect(existsSync(place.path)).toBe(isKept);
        for (const [name, mine] of wrote) {
          for (const line of mine) {
            const onBranch = keptOn(place.branch, name);
            expect(onBranch, `${agent} ${name}`).toContain(line);
            const where = isKept ? readFileSync(join(place.path, name), 'utf8') : merged;
            expect(where, `${agent} ${name}`).toContain(line);
          }
        }
      }
      expect(merged).not.toMatch(/^[<>=]{7}/m);
      expect(rig.read('dirty.txt')).toBe('of the user\n');
      expect(rig.repo.git('diff', '--cached')).toBe('');
      expect([...ends.values()].some(({ kind }) => kind === 'merged')).toBe(true);
    },
    60_000,
  );
});
