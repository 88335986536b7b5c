/**
 * A swarm of 200 background agents in a storm. `npm run test:soak` has more seeds, which SKEIN_TEST_SEEDS
 * names; a seed that failed can be had again in the same way.
 */
import { appendFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { needs } from '../setup/needs.js';
import { runChaos } from './chaos-run.js';

const SEEDS = (process.env.SKEIN_TEST_SEEDS ?? '1').split(',').map(Number);

needs.describe('own-redis')('a swarm whose workers, lead and Redis are killed and stopped', () => {
  test.each(SEEDS)(
    'ends as if nothing had happened (seed %i)',
    async (seed) => {
      const report = await runChaos(seed);
      const { SKEIN_TEST_FIGURES: figures } = process.env;
      if (figures !== undefined) appendFileSync(figures, `${JSON.stringify(report)}\n`);
      const { wrong, diary } = report;
      expect({ wrong, diary }).toEqual({ wrong: [], diary });
    },
    300_000,
  );
});
