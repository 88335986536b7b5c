/**
 * Surface that asks people in other terminals and on other machines. The question is posted to the
 * store, and the first answer kept there decides for all processes (law 6). Signatures are checked
 * here: a forged answer is removed and the question stays open.
 */
import { checkAnswer } from '../../policy/answers/check-answer.js';
import type { Clock } from '../../protocol/clock.js';
import type { PermissionQuestion } from '../../protocol/permission/permission-question.js';
import {
  type KnownSurface,
  QuestionClosed,
  type SignedAnswer,
  type SurfaceKey,
  signedAnswer,
} from '../../protocol/permission/signed-answer.js';
import type { Decisions, QuestionBoard } from '../../protocol/session/question-board.js';
import { StorageError } from '../../protocol/skein-error.js';
import { inputDigest } from './input-digest.js';

/** Surface id of the inbox in the journal and in signed answers. */
export const INBOX = 'inbox';

interface InboxOptions {
  /** Public keys of the people who may answer this process. */
  readonly publicKeys: readonly [string, ...string[]];
  /** Surfaces of this process. Their answers go to the same store. */
  readonly others: readonly SurfaceKey[];
  readonly board: QuestionBoard;
  readonly decisions: Decisions;
  readonly clock: Clock;
  /**
   * True if other surfaces are asked as well: the question does not stay open for the inbox alone.
   */
  readonly isOptional: boolean;
  /** Called when a question has been posted and can be seen. */
  readonly onPosted?: ((question: PermissionQuestion) => void) | undefined;
}

/** Accepts answers that are signed with any of the keys. */
export const inboxSurface = (options: InboxOptions): KnownSurface => {
  const [publicKey, ...morePublicKeys] = options.publicKeys;
  const first = { id: INBOX, publicKey };
  const forwardableKeys = [
    ...morePublicKeys.map((key) => ({ id: INBOX, publicKey: key })),
    ...options.others,
  ];
  const keys = [first, ...forwardableKeys];
  return {
    ...first,
    forwardableKeys,
    isOptional: options.isOptional,
    ask: (question, signal) => waitForDecision(options, keys, question, signal),
  };
};

const waitForDecision = async (
  { board, decisions, clock, onPosted, publicKeys }: InboxOptions,
  keys: readonly SurfaceKey[],
  question: PermissionQuestion,
  signal: AbortSignal,
): Promise<SignedAnswer> => {
  const { id, agent, call, input } = question;
  const askedAt = clock.now();
  const posted = { ...question, askedAt, personKeys: [...publicKeys] };
  try {
    await board.post(posted);
    onPosted?.(question);
    for (;;) {
      const signed = await retryOnStorageError(clock, () => decisions.waitFor(id, signal));
      const checked = checkAnswer(signed, {
        question: id,
        agent,
        call,
        inputDigest: inputDigest(input),
        keys,
        parent: undefined,
        closed: undefined,
        askedAt,
        expiresAt: Number.POSITIVE_INFINITY,
      });
      if (!('refusal' in checked)) return checked.answer;
      // A forged answer must not close the question: remove it and post the question again.
      await decisions.retract(id, signed);
      await board.post(posted);
    }
  } finally {
    void board.withdraw(id);
  }
};

const RETRY_MS = 1_000;

/**
 * Retries after StorageError: an unreadable answer was removed, or the store refuses temporarily.
 * Rejects with any other error.
 */
const retryOnStorageError = async <Result>(
  clock: Clock,
  work: () => Promise<Result>,
): Promise<Result> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
    await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + RETRY_MS, resolve, false));
  }
};

/**
 * Wraps a surface of this process: its answer counts only if the store has no earlier answer.
 * Rejects with QuestionClosed if another answer was first.
 */
export const firstAnswerWins = (surface: KnownSurface, decisions: Decisions): KnownSurface => ({
  ...surface,
  async ask(question, signal) {
    const signed = signedAnswer.parse(await surface.ask(question, signal));
    const winner = await decisions.decide(signed);
    if (winner.signature === signed.signature) return signed;
    throw new QuestionClosed({ ...winner.answer, by: winner.surface, signed: winner });
  },
});
