/** Returns a report without secrets and very long texts, for sharing. */
import type { Redact } from '../../policy/redaction/redact.js';
import type { SwarmReport } from './swarm-report.js';

/** Longer texts are cut. The page shows even less. */
const MAX_TEXT_LENGTH = 2_000;

/** Redacts before cutting, because a cut could leave a part of a secret that is not recognised. */
export const redactedReport = (report: SwarmReport, redact: Redact): SwarmReport => {
  const redacted = <Value>(value: Value): Value => {
    if (typeof value === 'string')
      return redact(value).slice(0, MAX_TEXT_LENGTH).toWellFormed() as Value;
    if (Array.isArray(value)) return value.map(redacted) as Value;
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, inner]) => [key, redacted<unknown>(inner)]);
    return Object.fromEntries(entries) as Value;
  };
  const { agents, atWork, spending, ...rest } = report;
  return {
    ...redacted(rest),
    // Times and states hold no secrets, and there are many.
    agents: agents.map(({ spans, times, ...agent }) => ({ ...redacted(agent), times, spans })),
    atWork,
    spending,
  };
};
