/** A report without secrets and without endless texts, for whoever it is sent to. */
import type { Redact } from '../../policy/redaction/redaction.js';
import type { SwarmReport } from './swarm-report.js';

/** Longer texts are cut; of each the page shows less. */
const LONGEST = 2_000;

/** What is cut off could be the rest of a secret, so all of a text is looked at first. */
export const redactedReport = (report: SwarmReport, redact: Redact): SwarmReport => {
  const told = <Value>(value: Value): Value => {
    if (typeof value === 'string') return redact(value).slice(0, LONGEST).toWellFormed() as Value;
    if (Array.isArray(value)) return value.map(told) as Value;
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, inner]) => [key, told<unknown>(inner)]);
    return Object.fromEntries(entries) as Value;
  };
  const { agents, atWork, spending, ...rest } = report;
  return {
    ...told(rest),
    // Times and states are ours, and there are many of them.
    agents: agents.map(({ spans, times, ...agent }) => ({ ...told(agent), times, spans })),
    atWork,
    spending,
  };
};
