/** What a script can tell from the way the command ended. */
import type { StopReason } from '../../protocol/agent/agent.js';

export const EXIT = { done: 0, failed: 1, usage: 2, limit: 3, interrupted: 130 } as const;

export const exitCodeOf = (reason: StopReason): number => {
  switch (reason) {
    case 'end_turn':
      return EXIT.done;
    case 'max_turns':
    case 'budget':
    case 'time_limit':
      return EXIT.limit;
    case 'interrupted':
    case 'stopped':
      return EXIT.interrupted;
    default:
      return EXIT.failed;
  }
};
