/** Finds the outcome of a question that is no longer open, for a person who wanted to answer it. */
import type { SignedAnswer } from '../../protocol/permission/signed-answer.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { liveSessions, newestFirst } from '../../views/swarm/live-sessions.js';
import { tooLateText } from './open-questions.js';

/** Returns a sentence, or undefined if no live session asked the question or it is still open. */
export const questionOutcome = async (
  store: SessionStore,
  question: string,
): Promise<string | undefined> => {
  const decision = await storedDecision(store, question);
  if (decision !== undefined) {
    return tooLateText(decision.surface, decision.answer.behavior === 'allow');
  }
  for (const { id } of await liveSessions(store)) {
    const ruling = await rulingIn(store.events(id), question);
    if (ruling !== undefined) return outcomeText(ruling);
  }
  return undefined;
};

/** Maximum sessions that are searched for the decision. */
const MAX_SESSIONS_ASKED = 50;
/** Maximum time in ms for all of them together. */
const SEARCH_LIMIT_MS = 1_000;

/** Returns the decision in Redis, or undefined if there is none or the store is not Redis. */
const storedDecision = async (
  store: SessionStore,
  question: string,
): Promise<SignedAnswer | undefined> => {
  if (store.jobs.local !== undefined) return undefined;
  const sessions = newestFirst(await store.list()).slice(0, MAX_SESSIONS_ASKED);
  const over = new AbortController();
  const limit = setTimeout(() => over.abort(new Error('There is no decision.')), SEARCH_LIMIT_MS);
  const asked = sessions.flatMap(({ id }) => {
    const { decisions } = store.questions(id);
    return decisions === undefined ? [] : [decisions.waitFor(question, over.signal)];
  });
  try {
    return await Promise.any(asked);
  } catch {
    return undefined;
  } finally {
    clearTimeout(limit);
    over.abort();
  }
};

const rulingIn = async (
  events: AsyncIterable<SwarmEvent>,
  question: string,
): Promise<SwarmEvent | undefined> => {
  let asked: SwarmEvent | undefined;
  try {
    for await (const event of events) {
      const { type, agent, call } = event;
      if (type === 'permission.requested' && event.question === question) asked = event;
      if (asked === undefined || type !== 'permission.ruled' || event.behavior === 'ask') continue;
      if (agent === asked.agent && call === asked.call) return event;
    }
  } catch (error) {
    // An unreadable index is reported by the commands that show it.
    if (!(error instanceof SkeinError)) throw error;
  }
  return undefined;
};

const outcomeText = ({ behavior, by, reason }: SwarmEvent): string => {
  if (typeof by !== 'string') return `The question is gone. ${String(reason)}`;
  return tooLateText(by, behavior === 'allow');
};
