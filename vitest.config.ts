import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts', 'tests/**/*.test.tsx'],
    globalSetup: ['tests/setup/machine.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
