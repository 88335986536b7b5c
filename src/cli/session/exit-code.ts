/** Exit codes of the command, and the code for each stop reason of a run. */
import type { StopReason } from '../../protocol/agent/stop.js';

export const ExitCode = { done: 0, failed: 1, usage: 2, limit: 3, interrupted: 130 } as const;

export const exitCodeFor = (reason: StopReason): number => {
  switch (reason) {
    case 'end_turn':
      return ExitCode.done;
    case 'max_turns':
    case 'budget':
    case 'time_limit':
      return ExitCode.limit;
    case 'interrupted':
    case 'stopped':
      return ExitCode.interrupted;
    default:
      return ExitCode.failed;
  }
};
