/**
 * Which agents begin again when a defect of ours has ended them, how often and how soon. Those that somebody
 * waits for do not: whoever waits hears of it at once and decides. What the world refuses is no crash: such
 * an agent stops with a reason, and is never begun again.
 */
import type { ChildKind } from '../protocol/agent/swarm.js';

export interface RestartPolicy {
  /** So often at the most, within the time. */
  readonly most: number;
  readonly withinMs: number;
  /** Before the first time, the second, and so on. */
  readonly delaysMs: readonly number[];
}

const WITHIN_MS = 300_000;

export const RESTARTS: Readonly<Record<ChildKind, RestartPolicy | null>> = {
  sync: null,
  fork: null,
  background: { most: 3, withinMs: WITHIN_MS, delaysMs: [1_000, 2_000, 4_000] },
  teammate: { most: 5, withinMs: WITHIN_MS, delaysMs: [1_000, 2_000, 4_000, 8_000, 16_000] },
};

export interface Restart {
  /** Of those within the time. */
  readonly attempt: number;
  readonly most: number;
  readonly delayMs: number;
}

/** `before` are the times of the crashes after which it was begun again. Undefined: it stays where it is. */
export const restartOf = (
  kind: ChildKind,
  before: readonly number[],
  now: number,
): Restart | undefined => {
  const policy = RESTARTS[kind];
  if (policy === null) return undefined;
  const { most, withinMs, delaysMs } = policy;
  const attempt = before.filter((at) => now - at < withinMs).length + 1;
  if (attempt > most) return undefined;
  return { attempt, most, delayMs: delaysMs[attempt - 1] ?? delaysMs.at(-1) ?? 0 };
};
