/** An agent of a swarm in a few words: what it is called, where it is, and what it does now. */
import { type AgentView, calledOf } from '../../views/swarm/swarm-view.js';
import { shortAge } from '../text/format-time.js';
import { plainText } from '../text/sanitize.js';
import { agentWaitWords } from './format-wait.js';

/** A name is an address; what has none is called by the beginning of its id. */
export const whoText = (agent: AgentView, shortId: string): string => {
  const called = plainText(calledOf(agent), 60);
  return agent.name === null ? `${called} ${plainText(shortId, 30)}` : called;
};

/** Who has come to an end is not called stopped: that is what a person does. */
export const stateText = ({ status, state }: AgentView): string =>
  status === 'running' || status === 'queued' ? state : status;

/**
 * Of who has come to an end, how long it worked. One that is lost may have said nothing for long and worked
 * all the same: it is as old as its process was seen to become.
 */
export const ageText = (agent: AgentView, now: number): string => {
  const { status, since, lastActiveAt, lostAt } = agent;
  const isOver = status === 'ended' || status === 'stopped' || status === 'lost';
  return shortAge((isOver ? (lostAt ?? lastActiveAt) : now) - since);
};

/** What it works at, or why it does not; the state says already that a model is being asked. */
export const doingOf = (agent: AgentView): string => {
  const { questions, calls, wait, hasLostWorker, stop, description, status } = agent;
  const more = (count: number) => (count > 1 ? ` (+${count - 1})` : '');
  const [question] = questions;
  const [call] = calls;
  if (question !== undefined) {
    return `asks: ${plainText(question.description)}${more(questions.length)}`;
  }
  if (hasLostWorker && agent.refusal === null) {
    return 'waits for another worker: the one that had it is gone';
  }
  if (wait !== null && wait.kind !== 'model') return agentWaitWords(wait);
  if (call !== undefined) return `${plainText(call.description)}${more(calls.length)}`;
  const isOver = status === 'ended' || status === 'stopped';
  if (stop !== null && isOver && stop.reason !== 'end_turn') {
    return plainText(`${stop.reason}${stop.detail === null ? '' : `: ${stop.detail}`}`);
  }
  return plainText(description);
};
