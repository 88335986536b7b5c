import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/setup/longest-first.js';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts', 'tests/**/*.test.tsx'],
    globalSetup: ['tests/setup/machine.ts'],
    setupFiles: ['tests/setup/own-home.ts', 'tests/setup/random-seed.ts'],
    reporters: ['./tests/setup/reporter.ts'],
    // Processes: tests send signals and count child processes.
    pool: 'forks',
    // One file after the other in each of them: loading the modules anew for every file took a fifth of the time.
    isolate: false,
    // Many tests wait for processes and timers, so there may be more of them than cores.
    maxWorkers: Math.min(Math.ceil(availableParallelism() * 2), 8),
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What comes true in a moment takes many of them on a busy machine.
    expect: { poll: { timeout: 20_000 } },
  },
});
