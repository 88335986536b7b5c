/** The fast tests, and the coverage of the pure rooms that they must reach. */
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { chooseTestsIn } from './tests/setup/fast-tests.js';
import everyTest from './vitest.config.js';

/** Minimum coverage per room in percent, rounded down. Raise a figure when a room gets better; never lower one. */
const MIN_COVERAGE = {
  'src/context/**': { lines: 92, branches: 83 },
  'src/machines/**': { lines: 99, branches: 96 },
  'src/policy/**': { lines: 99, branches: 93 },
  'src/prompt/**': { lines: 97, branches: 91 },
};

export default defineConfig({
  test: {
    ...everyTest.test,
    include: [...chooseTestsIn(import.meta.dirname).fast],
    globalSetup: ['tests/setup/fast-machine.ts'],
    // Fast tests compute and do not wait, so more workers than cores gain nothing.
    maxWorkers: Math.min(availableParallelism(), 8),
    coverage: {
      provider: 'v8',
      include: Object.keys(MIN_COVERAGE),
      reporter: ['text-summary', 'html'],
      thresholds: MIN_COVERAGE,
    },
  },
});
