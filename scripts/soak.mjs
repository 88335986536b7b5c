/**
 * `npm run test:soak`: ten storms over swarms of 200 agents, the laws with a kill at every journal write and at
 * every change of a rewind, a checkpoint and kept code, and with a thousand kinds of damage to journals, worktrees that
 * are edited at random, every rollback and wrong key of Redis, and all modes and more wrappers of commands. With seeds
 * (`npm run test:soak -- 3 17`) it runs only the storms of these seeds. Prints the seed of the random damage, a line for
 * the seed of each storm, and ends with the exit code of the tests. `SKEIN_TEST_SEED=<seed> npm run test:soak` repeats the random damage of an earlier run.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled } from './installed.mjs';

const root = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const folders =
  args.length > 0
    ? ['tests/chaos']
    : [
        'chaos',
        'laws',
        'cli/compiled-code',
        'host/worktrees',
        'journeys/redis',
        'policy/shell',
      ].map((name) => `tests/${name}`);
const seeds = args.length > 0 ? args : Array.from({ length: 10 }, (_, at) => String(at + 1));
const damageSeed = process.env.SKEIN_TEST_SEED ?? String(1 + Math.floor(Math.random() * 1_000_000));
await ensureInstalled(root);
await ensureBuilt(root);

const folder = await mkdtemp(join(tmpdir(), 'skein-soak-'));
const figures = join(folder, 'figures.jsonl');
const vitest = spawn(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...folders],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_ENV: 'test',
      SKEIN_TEST_SEED: damageSeed,
      SKEIN_TEST_SEEDS: seeds.join(),
      SKEIN_TEST_FIGURES: figures,
      SKEIN_TEST_WIDE: '1',
    },
  },
);
// Ctrl-C reaches the whole process group, so vitest ends by itself.
process.on('SIGINT', () => {});
const code = await new Promise((resolve) => vitest.once('exit', resolve));
const lines = (await readFile(figures, 'utf8').catch(() => '')).split('\n').filter(Boolean);
for (const line of lines) {
  const { seed, strikes, takeOvers, givenBack, leads, interrupted, seconds, wrong } =
    JSON.parse(line);
  const hits = Object.entries(strikes).map(([kind, count]) => `${count} × ${kind}`);
  const tally = `${takeOvers} agents taken over, ${givenBack} let go, ${leads} leads, ${interrupted} calls interrupted`;
  const result = wrong.length === 0 ? 'nothing wrong' : `${wrong.length} WRONG`;
  console.log(`seed ${seed}: ${hits.join(', ')}; ${tally}; ${seconds} s; ${result}`);
}
const again = ['npm run test:soak', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
console.log(
  `The random choices of this run are repeated by: SKEIN_TEST_SEED=${damageSeed} ${again}`,
);
await rm(folder, { recursive: true });
process.exitCode = code ?? 1;
