/** What has become of an agent, in a word and a class of the style. */
import { type ChildOutcome, outcomeOf } from '../../protocol/agent/swarm.js';
import type { AgentReport } from '../../views/report/swarm-report.js';
import { words } from './html-text.js';

export interface AgentFate {
  readonly word: string;
  readonly className: string;
  /** Why, where that is not plain. */
  readonly detail: string;
}

export const fateOf = (agent: AgentReport): AgentFate => {
  const { status, state, stop } = agent;
  if (status === 'running') return { word: 'running', className: 'live', detail: state };
  if (status === 'queued' || status === 'idle') {
    return { word: status, className: 'live', detail: '' };
  }
  if (status === 'lost') {
    return { word: 'lost', className: 'bad', detail: 'its process died before it had ended' };
  }
  if (stop === null) return { word: 'completed', className: 'good', detail: '' };
  const outcome = reasonOutcome(stop.reason);
  const detail = [
    ...(stop.reason === 'end_turn' ? [] : [words(stop.reason, 60)]),
    ...(stop.detail === null ? [] : [words(stop.detail, 300)]),
  ].join(': ');
  return { word: outcome, className: CLASSES[outcome], detail };
};

const CLASSES: Readonly<Record<ChildOutcome, string>> = {
  completed: 'good',
  failed: 'bad',
  stopped: 'warn',
};

/** The reason is a word of a file, which may say anything. */
const reasonOutcome = (reason: string): ChildOutcome =>
  outcomeOf({ reason } as Parameters<typeof outcomeOf>[0]);
