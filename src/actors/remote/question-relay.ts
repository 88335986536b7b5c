/**
 * Puts questions of agents that work in other processes to the people at this one, or tells them where to
 * answer, and gives their answers back, signed as theirs. Whoever answers elsewhere first takes a question
 * away from here.
 */
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../protocol/clock.js';
import type { PermissionQuestion, Surface } from '../../protocol/permission/permission.js';
import type {
  Decisions,
  PostedQuestion,
  QuestionDesk,
} from '../../protocol/session/question-board.js';
import { INBOX } from '../permissions/inbox-surface.js';
import { inputDigest } from '../permissions/input-digest.js';
import { signClaims } from '../permissions/signing-surface.js';

export interface RelayOptions {
  readonly desk: QuestionDesk & { readonly verdicts: Decisions };
  /** Undefined where people answer in another terminal alone. */
  readonly surface: Surface | undefined;
  /** Told of each that is open. */
  readonly seen?: ((question: PostedQuestion) => void) | undefined;
  /** The person's. */
  readonly privateKey: KeyObject;
  readonly clock: Clock;
  /** It was asked in this process, and so by the people at it already. */
  readonly isOurs: (question: string) => boolean;
}

/** Until what it returns is called. */
export const relayQuestions = (options: RelayOptions): (() => void) => {
  const { desk, isOurs, surface, seen } = options;
  /** By question: what takes it away from the person. */
  const shown = new Map<string, AbortController>();
  const look = async (): Promise<void> => {
    const { questions } = await desk.read();
    const open = new Set(questions.map(({ id }) => id));
    for (const [id, controller] of shown) {
      if (open.has(id)) continue;
      shown.delete(id);
      controller.abort();
    }
    for (const question of questions) {
      if (shown.has(question.id) || isOurs(question.id)) continue;
      const controller = new AbortController();
      shown.set(question.id, controller);
      seen?.(question);
      if (surface !== undefined) void answer(options, surface, question, controller.signal);
    }
  };
  let looking: Promise<void> = Promise.resolve();
  const end = desk.verdicts.watch(() => {
    // A store that is away is said elsewhere, and looked at again when it is back.
    looking = looking.then(look).catch(() => {});
  });
  return () => {
    end();
    for (const controller of shown.values()) controller.abort();
  };
};

const answer = async (
  { desk, privateKey, clock }: RelayOptions,
  surface: Surface,
  question: PostedQuestion,
  signal: AbortSignal,
): Promise<void> => {
  const { id, agent, call, input, askedAt } = question;
  try {
    const given = await surface.ask(question as PermissionQuestion, signal);
    const claims = {
      question: id,
      agent,
      call,
      inputDigest: inputDigest(input),
      answer: given,
      // By the clock of whoever asked it came first, whatever this one says.
      surface: INBOX,
      issuedAt: Math.max(clock.now(), askedAt),
    };
    await desk.verdicts.decide(signClaims(claims, privateKey));
  } catch {
    // Nobody answered here, or the question is gone; others may answer it.
  }
};
