import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

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
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
