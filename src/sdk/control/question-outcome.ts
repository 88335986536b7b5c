/** Finds the outcome of a question that is no longer open, for a person who wanted to answer it. */
import { INBOX } from '../../actors/permissions/inbox-surface.js';
import type { SignedAnswer } from '../../protocol/permission/signed-answer.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { liveSessions, newestFirst } from '../../views/swarm/live-sessions.js';

/** Returns a sentence, or undefined if no live session asked the question or it is still open. */
export const questionOutcome = async (
  store: SessionStore,
  question: string,
): Promise<string | undefined> => {
  const decision = await storedDecision(store, question);
  if (decision !== undefined) return tooLateText(decision);
  for (const { id } of await liveSessions(store)) {
    const ruling = await rulingIn(store.events(id), question);
    if (ruling !== undefined) return outcomeText(ruling);
  }
  return undefined;
};

/** Returns the sentence for an answer that came after this one. */
export const tooLateText = ({ surface, answer }: SignedAnswer): string =>
  tooLateSentence(surface, answer.behavior);

const tooLateSentence = (surface: string, behavior: unknown): string => {
  const author = surface === INBOX ? 'another terminal' : surface;
  return `Too late: ${author} has ${behavior === 'allow' ? 'allowed' : 'denied'} it already.`;
};

/** Maximum sessions that are searched for the decision. */
const MAX_SEARCHED_SESSIONS = 50;

/** Returns undefined if the newest sessions have no decision, or if it cannot be read. */
const storedDecision = async (
  store: SessionStore,
  question: string,
): Promise<SignedAnswer | undefined> => {
  const sessions = newestFirst(await store.list()).slice(0, MAX_SEARCHED_SESSIONS);
  const found = await Promise.allSettled(
    sessions.map(({ id }) => store.questions(id).decisions.find(question)),
  );
  return found.flatMap((read) => (read.status === 'fulfilled' ? (read.value ?? []) : []))[0];
};

/** Returns the event that decided the call of the question. Undefined if there is none, or if the index cannot be read. */
export const rulingIn = async (
  events: AsyncIterable<SwarmEvent>,
  question: string,
): Promise<SwarmEvent | undefined> => {
  let asking: SwarmEvent | undefined;
  try {
    for await (const event of events) {
      const { type, agent, call } = event;
      if (type === 'permission.requested' && event.question === question) asking = event;
      if (asking === undefined || type !== 'permission.ruled' || event.behavior === 'ask') continue;
      if (agent === asking.agent && call === asking.call) return event;
    }
  } catch (error) {
    // An unreadable index is reported by the commands that show it.
    if (!(error instanceof SkeinError)) throw error;
  }
  return undefined;
};

const outcomeText = ({ behavior, by, reason }: SwarmEvent): string => {
  if (typeof by !== 'string') return `The question is no longer open. ${String(reason)}`;
  return tooLateSentence(by, behavior);
};
