import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/setup/longest-first.js';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts', 'tests/**/*.test.tsx'],
    globalSetup: ['tests/setup/machine.ts'],
    setupFiles: ['tests/setup/own-home.ts'],
    reporters: ['./tests/setup/reporter.ts'],
    // A process per file: tests change the environment, send signals and count child processes.
    pool: 'forks',
    // Many tests wait for processes and timers, so every core may have a worker.
    maxWorkers: Math.min(availableParallelism(), 8),
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
