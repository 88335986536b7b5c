/**
 * Declares the tools of the machine that a test needs. The test is skipped with a reason if a tool is missing:
 *
 *   needs('git')('commits the changes', async () => { … });
 *   needs.describe('tmux')('the screen', () => { … });
 *
 * The reporter lists the skipped tests, and .ci/run fails on any skip.
 */
import { describe, inject, type TestFunction, test } from 'vitest';
import type { Need } from './tools.js';

declare module 'vitest' {
  interface TaskMeta {
    /** Reason of the skip, for the list at the end of a run. */
    skipped?: string;
  }
}

const skipOptions = (names: readonly Need[]) => {
  const missing = inject('missingTools');
  const reason = names.flatMap((name) => missing[name] ?? []).join('; ');
  return reason === '' ? {} : { skip: true, meta: { skipped: reason } };
};

type DefineTest<Body> = (title: string, body: Body, timeoutMs?: number) => void;

export const needs = Object.assign(
  (...names: readonly Need[]): DefineTest<TestFunction> =>
    (title, body, timeoutMs) => {
      const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
      test(title, { ...skipOptions(names), ...timeout }, body);
    },
  {
    describe:
      (...names: readonly Need[]): DefineTest<() => void> =>
      (title, body) => {
        describe(title, skipOptions(names), body);
      },
  },
);
