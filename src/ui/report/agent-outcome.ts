/** Agent outcome: status of an agent as a word and a CSS class. */
import { type ChildOutcome, outcomeOf } from '../../protocol/agent/child-report.js';
import type { AgentReport } from '../../views/report/swarm-report.js';
import { redactedText } from './html.js';

interface AgentOutcome {
  readonly word: string;
  readonly className: string;
  /** Reason, if the word does not say it; may be empty. */
  readonly detail: string;
}

export const agentOutcome = (agent: AgentReport): AgentOutcome => {
  const { status, state, stop } = agent;
  if (status === 'running') return { word: 'running', className: 'live', detail: state };
  if (status === 'queued' || status === 'idle') {
    return { word: status, className: 'live', detail: '' };
  }
  if (status === 'lost') {
    return { word: 'lost', className: 'bad', detail: 'its process died before the agent ended' };
  }
  if (stop === null) return { word: 'completed', className: 'good', detail: '' };
  const outcome = reasonOutcome(stop.reason);
  const detail = [
    ...(stop.reason === 'end_turn' ? [] : [redactedText(stop.reason, 60)]),
    ...(stop.detail === null ? [] : [redactedText(stop.detail, 300)]),
  ].join(': ');
  return { word: outcome, className: CLASSES[outcome], detail };
};

const CLASSES: Readonly<Record<ChildOutcome, string>> = {
  completed: 'good',
  failed: 'bad',
  stopped: 'warn',
};

/** The reason comes from a log, so it may be any string. */
const reasonOutcome = (reason: string): ChildOutcome =>
  outcomeOf({ reason } as Parameters<typeof outcomeOf>[0]);
