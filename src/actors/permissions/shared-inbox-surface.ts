/**
 * Asks the person wherever they are, where several processes and machines may answer: the question is posted
 * in the store, and the first answer that is kept there decides for everybody (law 6). Who signed it is
 * checked here: what somebody forged is taken away again, and the question stays open.
 */
import { checkAnswer } from '../../policy/answers/answer-check.js';
import type { Clock } from '../../protocol/clock.js';
import { StorageError } from '../../protocol/errors.js';
import {
  type KnownSurface,
  QuestionClosed,
  type SignedAnswer,
  type SurfaceKey,
  signedAnswer,
} from '../../protocol/permission/answer.js';
import type { PermissionQuestion } from '../../protocol/permission/permission.js';
import type { Decisions, QuestionBoard } from '../../protocol/session/question-board.js';
import { INBOX } from './inbox-surface.js';
import { inputDigest } from './input-digest.js';

export interface VerdictOptions {
  /** Those of the people who may answer this process. */
  readonly publicKeys: readonly string[];
  /** Surfaces of this process, whose answers are kept in the same place. */
  readonly others: readonly SurfaceKey[];
  readonly board: QuestionBoard;
  readonly verdicts: Decisions;
  readonly clock: Clock;
  /** Others are asked too, and nobody waits for it once they cannot answer. */
  readonly isBeside: boolean;
  /** Told when a question can be seen. */
  readonly posted?: (question: PermissionQuestion) => void;
}

/** One surface for each key: an answer is known by the key that it is signed with. */
export const sharedInboxSurfaces = (options: VerdictOptions): readonly KnownSurface[] => {
  const [first, ...more] = options.publicKeys.map((publicKey) => ({ id: INBOX, publicKey }));
  if (first === undefined) return [];
  const keys = [first, ...more, ...options.others];
  return [
    {
      ...first,
      handsOn: [...more, ...options.others],
      isBeside: options.isBeside,
      ask: (question, signal) => untilDecided(options, keys, question, signal),
    },
  ];
};

const untilDecided = async (
  { board, verdicts, clock, posted }: VerdictOptions,
  keys: readonly SurfaceKey[],
  question: PermissionQuestion,
  signal: AbortSignal,
): Promise<SignedAnswer> => {
  const { id, agent, call, input } = question;
  const askedAt = clock.now();
  try {
    await board.post({ ...question, askedAt });
    posted?.(question);
    for (;;) {
      const signed = await orAgain(clock, () => verdicts.decided(id, signal));
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
      // Whoever forges one must not take the question away from the person.
      await verdicts.void(id, signed);
      await board.post({ ...question, askedAt });
    }
  } finally {
    void board.withdraw(id);
  }
};

const PAUSE_MS = 1_000;

/** Something else lay where the answer should be, and is gone now; or the store refuses, which may pass. */
const orAgain = async <Result>(clock: Clock, work: () => Promise<Result>): Promise<Result> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
    await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + PAUSE_MS, resolve, false));
  }
};

/** A surface of this process: what it answers counts if nobody elsewhere was faster. */
export const firstAnswerWins = (surface: KnownSurface, verdicts: Decisions): KnownSurface => ({
  ...surface,
  async ask(question, signal) {
    const given = signedAnswer.parse(await surface.ask(question, signal));
    const winner = await verdicts.decide(given);
    if (winner.signature === given.signature) return given;
    throw new QuestionClosed({ ...winner.answer, by: winner.surface, signed: winner });
  },
});
