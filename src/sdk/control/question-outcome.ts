/** What came of a question that is not open any more, for whoever wanted to answer it. */

import { SkeinError } from '../../protocol/errors.js';
import type { SignedAnswer } from '../../protocol/permission/answer.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { newestFirst } from '../sessions/find-session.js';
import { tooLate } from './open-questions.js';
import { liveSessions } from './remote-commands.js';

/** In a sentence; undefined when no session that runs has asked it, or it is still open. */
export const questionFate = async (
  store: SessionStore,
  question: string,
): Promise<string | undefined> => {
  const kept = await keptVerdict(store, question);
  if (kept !== undefined) return tooLate(kept.surface, kept.answer.behavior === 'allow');
  for (const { id } of await liveSessions(store)) {
    const ruling = await rulingIn(store.events(id), question);
    if (ruling !== undefined) return fateText(ruling);
  }
  return undefined;
};

/** Sessions that are asked, and how long all of them together may take. */
const MOST_ASKED = 50;
const PATIENCE_MS = 1_000;

/** Where decisions are kept for those who come too late. */
const keptVerdict = async (
  store: SessionStore,
  question: string,
): Promise<SignedAnswer | undefined> => {
  if (store.jobs.own !== undefined) return undefined;
  const sessions = newestFirst(await store.list()).slice(0, MOST_ASKED);
  const over = new AbortController();
  const limit = setTimeout(() => over.abort(new Error('Nobody has decided it.')), PATIENCE_MS);
  const asked = sessions.flatMap(({ id }) => {
    const { verdicts } = store.questions(id);
    return verdicts === undefined ? [] : [verdicts.decided(question, over.signal)];
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
    // An index that cannot be read is reported by those who show it.
    if (!(error instanceof SkeinError)) throw error;
  }
  return undefined;
};

const fateText = ({ behavior, by, reason }: SwarmEvent): string => {
  if (typeof by !== 'string') return `The question is gone. ${String(reason)}`;
  return tooLate(by, behavior === 'allow');
};
