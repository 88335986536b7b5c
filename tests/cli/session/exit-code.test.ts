import { describe, expect, test } from 'vitest';
import { exitCodeFor } from '../../../src/cli/session/exit-code.js';
import { STOP_REASONS } from '../../../src/protocol/agent/stop.js';

describe('the exit code of a run', () => {
  test('differs for completed, failed, limited and interrupted runs', () => {
    expect(Object.fromEntries(STOP_REASONS.map((reason) => [reason, exitCodeFor(reason)]))).toEqual(
      {
        end_turn: 0,
        max_turns: 3,
        budget: 3,
        time_limit: 3,
        interrupted: 130,
        stopped: 130,
        denied: 1,
        compaction_failed: 1,
        repeated_tool_failure: 1,
        loop: 1,
        refusal: 1,
        model_error: 1,
        storage_failed: 1,
      },
    );
  });
});
