/**
 * Shows questions of remote agents to the people at this process and returns their signed answers. A question
 * disappears here when it is answered elsewhere.
 */
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../protocol/clock.js';
import type { PermissionQuestion, Surface } from '../../protocol/permission/permission-question.js';
import type { PostedQuestion, QuestionStore } from '../../protocol/session/question-board.js';
import { INBOX } from '../permissions/inbox-surface.js';
import { inputDigest } from '../permissions/input-digest.js';
import { signClaims } from '../permissions/signing-surface.js';

export interface RelayOptions {
  readonly questions: Pick<QuestionStore, 'read' | 'watch' | 'decisions'>;
  /** Undefined if people can answer only in another terminal. */
  readonly surface: Surface | undefined;
  /** Called for each open question. */
  readonly seen?: ((question: PostedQuestion) => void) | undefined;
  /** Key of the person. */
  readonly privateKey: KeyObject;
  readonly clock: Clock;
  /** True for a question of this process, which its own surfaces show already. */
  readonly isAskedHere: (question: string) => boolean;
}

/** Returns a function that ends the relay. */
export const relayQuestions = (options: RelayOptions): (() => void) => {
  const { isAskedHere, surface, seen } = options;
  /** Withdraws a shown question, by question id. */
  const shown = new Map<string, AbortController>();
  const showOpen = async (): Promise<void> => {
    const { questions } = await options.questions.read();
    const open = new Set(questions.map(({ id }) => id));
    for (const [id, controller] of shown) {
      if (open.has(id)) continue;
      shown.delete(id);
      controller.abort();
    }
    for (const question of questions) {
      if (shown.has(question.id) || isAskedHere(question.id)) continue;
      const controller = new AbortController();
      shown.set(question.id, controller);
      seen?.(question);
      if (surface !== undefined) void answer(options, surface, question, controller.signal);
    }
  };
  let pending: Promise<void> = Promise.resolve();
  const end = options.questions.watch(() => {
    // An outage is reported elsewhere. The next change of the store retries.
    pending = pending.then(showOpen).catch(() => {});
  });
  return () => {
    end();
    for (const controller of shown.values()) controller.abort();
  };
};

const answer = async (
  { questions, privateKey, clock }: RelayOptions,
  surface: Surface,
  question: PostedQuestion,
  signal: AbortSignal,
): Promise<void> => {
  const { id, agent, call, input, askedAt } = question;
  try {
    const decision = await surface.ask(question as PermissionQuestion, signal);
    const claims = {
      question: id,
      agent,
      call,
      inputDigest: inputDigest(input),
      answer: decision,
      surface: INBOX,
      // The clock of the asking process may be ahead, and an answer must not be older than its question.
      issuedAt: Math.max(clock.now(), askedAt),
    };
    await questions.decisions.answer(signClaims(claims, privateKey));
  } catch {
    // No answer came here, or the question is gone. Another surface may answer.
  }
};
