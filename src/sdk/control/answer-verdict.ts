/** Waits for the process that asked a question: it verifies a stored answer, and removes an answer that it refuses. */
import type { SignedAnswer } from '../../protocol/permission/signed-answer.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { rulingIn } from './question-outcome.js';

/** Time that the asking process has to verify an answer, in milliseconds. It may be suspended or away. */
const MAX_WAIT_MS = 2_000;
const FIRST_PAUSE_MS = 20;

/**
 * Resolves with `refused` if the answer was removed, with `accepted` if the call was decided, and with `pending` if
 * the asking process does not react in time. Rejects with StorageError.
 */
export const answerVerdict = async (
  store: Pick<SessionStore, 'questions' | 'events'>,
  session: string,
  { question, signature }: SignedAnswer,
): Promise<'accepted' | 'refused' | 'pending'> => {
  const { decisions } = store.questions(session);
  const endsAt = performance.now() + MAX_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < endsAt; pauseMs *= 2) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if ((await decisions.find(question))?.signature !== signature) return 'refused';
    if ((await rulingIn(store.events(session), question)) !== undefined) return 'accepted';
  }
  return 'pending';
};
