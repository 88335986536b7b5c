/**
 * A swarm of 100 background agents under random faults, 200 in the soak. SKEIN_TEST_SEEDS names the seeds:
 * `npm run test:soak` sets several, and a failed seed can be set again.
 */
import { appendFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { needs } from '../setup/needs.js';
import { runChaos } from './chaos-run.js';

const SEEDS = (process.env.SKEIN_TEST_SEEDS ?? '1').split(',').map(Number);

needs.describe('own-redis')(
  'a swarm with killed and stopped workers, leads and Redis servers',
  () => {
    test.each(SEEDS)(
      'ends with complete journals, letters and effects (seed %i)',
      async (seed) => {
        const report = await runChaos(seed);
        const { SKEIN_TEST_FIGURES: figures } = process.env;
        if (figures !== undefined) appendFileSync(figures, `${JSON.stringify(report)}\n`);
        const { wrong, diary } = report;
        expect({ wrong, diary }).toEqual({ wrong: [], diary });
      },
      300_000,
    );
  },
);
