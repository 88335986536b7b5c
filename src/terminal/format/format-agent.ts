/** Formats an agent of a swarm: its label, state, age and current activity. */
import { type AgentView, displayName } from '../../views/swarm/swarm-view.js';
import { formatAge } from '../text/format-time.js';
import { plainText } from '../text/sanitize.js';
import { formatAgentWait } from './format-wait.js';

/** Returns the agent's name, which is also its address, or else its type and short id. */
export const formatAgent = (agent: AgentView, shortId: string): string => {
  const called = plainText(displayName(agent), 60);
  return agent.name === null ? `${called} ${plainText(shortId, 30)}` : called;
};

/** Returns the machine state of a running or queued agent, else its status: `stopped` means stopped by a person. */
export const formatAgentState = ({ status, state }: AgentView): string =>
  status === 'running' || status === 'queued' ? state : status;

/**
 * Returns the time since the agent started. The age of an ended agent stops at its last activity, and of a lost
 * agent at the last time that its process was seen alive, because a silent agent may still have worked.
 */
export const formatAgentAge = (agent: AgentView, now: number): string => {
  const { status, since, lastActiveAt, lostAt } = agent;
  const isOver = status === 'ended' || status === 'stopped' || status === 'lost';
  return formatAge((isOver ? (lostAt ?? lastActiveAt) : now) - since);
};

/** Returns the agent's question, wait, call, stop reason or task. A wait for the model is left to the state column. */
export const formatAgentActivity = (agent: AgentView): string => {
  const { questions, calls, wait, hasLostWorker, stop, description, status } = agent;
  const more = (count: number) => (count > 1 ? ` (+${count - 1})` : '');
  const [question] = questions;
  const [call] = calls;
  if (question !== undefined) {
    return `asks: ${plainText(question.description)}${more(questions.length)}`;
  }
  if (hasLostWorker && agent.refusal === null) {
    return 'waits for another worker: its worker is gone';
  }
  if (wait !== null && wait.kind !== 'model') return formatAgentWait(wait);
  if (call !== undefined) return `${plainText(call.description)}${more(calls.length)}`;
  const isOver = status === 'ended' || status === 'stopped';
  if (stop !== null && isOver && stop.reason !== 'end_turn') {
    return plainText(`${stop.reason}${stop.detail === null ? '' : `: ${stop.detail}`}`);
  }
  return plainText(description);
};
