/**
 * Tests that need a tool of the machine say so, and are skipped with a reason where it cannot be had:
 *
 *   needs('git')('commits what changed', async () => { … });
 *   needs.describe('tmux')('the screen', () => { … });
 *
 * The reporter lists what was skipped, and .ci/run fails on any skip.
 */
import { describe, inject, type TestFunction, test } from 'vitest';
import type { Need } from './tools.js';

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test was skipped, for the list at the end. */
    skipped?: string;
  }
}

const skipOptions = (names: readonly Need[]) => {
  const missing = inject('missingTools');
  const reason = names.flatMap((name) => missing[name] ?? []).join('; ');
  return reason === '' ? {} : { skip: true, meta: { skipped: reason } };
};

type Needy<Body> = (title: string, body: Body, timeoutMs?: number) => void;

export const needs = Object.assign(
  (...names: readonly Need[]): Needy<TestFunction> =>
    (title, body, timeoutMs) => {
      const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
      test(title, { ...skipOptions(names), ...timeout }, body);
    },
  {
    describe:
      (...names: readonly Need[]): Needy<() => void> =>
      (title, body) => {
        describe(title, skipOptions(names), body);
      },
  },
);
