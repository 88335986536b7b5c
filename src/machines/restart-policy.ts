/**
 * Decides whether a crashed agent restarts, how often and after which delay. An agent whose parent waits for it
 * does not restart: the parent gets the failure at once and decides. Only a defect of Skein is a crash; an agent
 * that the world refuses something stops with a reason and does not restart.
 */
import type { ChildKind } from '../protocol/agent/agent-tag.js';

export interface RestartPolicy {
  /** Maximum restarts within `withinMs`. */
  readonly maxRestarts: number;
  readonly withinMs: number;
  /** Delays before the first restart, the second, and so on. */
  readonly delaysMs: readonly number[];
}

const WITHIN_MS = 300_000;

export const RESTARTS: Readonly<Record<ChildKind, RestartPolicy | null>> = {
  sync: null,
  fork: null,
  background: { maxRestarts: 3, withinMs: WITHIN_MS, delaysMs: [1_000, 2_000, 4_000] },
  teammate: { maxRestarts: 5, withinMs: WITHIN_MS, delaysMs: [1_000, 2_000, 4_000, 8_000, 16_000] },
};

export interface Restart {
  /** Number of this restart among those within the time, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
}

/** Returns undefined if the agent must not restart. `earlierRestarts` are times in milliseconds. */
export const restartOf = (
  kind: ChildKind,
  earlierRestarts: readonly number[],
  now: number,
): Restart | undefined => {
  const policy = RESTARTS[kind];
  if (policy === null) return undefined;
  const { maxRestarts, withinMs, delaysMs } = policy;
  const attempt = earlierRestarts.filter((at) => now - at < withinMs).length + 1;
  if (attempt > maxRestarts) return undefined;
  return {
    attempt,
    maxAttempts: maxRestarts,
    delayMs: delaysMs[attempt - 1] ?? delaysMs.at(-1) ?? 0,
  };
};
