/** Makes the result of a run that could not start. It is the only message of such a run. */
import { randomUUID } from 'node:crypto';
import { redact } from '../../../policy/redaction/redact.js';
import { NO_USAGE } from '../../../protocol/model/usage.js';
import { wireUsage } from './run-result-builder.js';
import type { ResultMessage } from './skein-message.js';

/** `session_id` is the session that was asked for. Empty if none was named. */
export const refusedRunResult = (session_id: string, error: unknown): ResultMessage => {
  const sentence = redact(error instanceof Error ? error.message : String(error));
  return {
    type: 'result',
    subtype: 'error_during_execution',
    is_error: true,
    result: sentence,
    errors: [sentence],
    stop_reason: 'not_started',
    num_turns: 0,
    duration_ms: 0,
    duration_api_ms: 0,
    total_cost_usd: 0,
    usage: wireUsage(NO_USAGE),
    modelUsage: {},
    permission_denials: [],
    session_id,
    uuid: randomUUID(),
  };
};
