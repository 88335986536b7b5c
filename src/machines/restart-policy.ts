/**
 * Decides whether a crashed agent restarts, how often and after which delay. An agent whose parent waits for it
 * does not restart: the parent gets the failure at once and decides. Only a defect of Skein is a crash; an agent
 * that the world refuses something stops with a reason and does not restart.
 */
import type { ChildKind } from '../protocol/agent/agent-tag.js';

/** Time in milliseconds within which restarts are counted. */
const WITHIN_MS = 300_000;

/** Delays in milliseconds before each restart, by kind of agent. An agent has as many restarts as delays. */
export type RestartPolicy = Readonly<Record<ChildKind, readonly number[]>>;

const RESTART_DELAYS_MS: RestartPolicy = {
  sync: [],
  fork: [],
  background: [1_000, 2_000, 4_000],
  teammate: [1_000, 2_000, 4_000, 8_000, 16_000],
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
  const delaysMs = RESTART_DELAYS_MS[kind];
  const recent = earlierRestarts.filter((at) => now - at < WITHIN_MS).length;
  const delayMs = delaysMs[recent];
  return delayMs === undefined
    ? undefined
    : { attempt: recent + 1, maxAttempts: delaysMs.length, delayMs };
};
