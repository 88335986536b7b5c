/**
 * Surface that asks the person in other terminals. Posts the question to the question board and
 * accepts an answer that is signed with the person's key (law 6).
 */
import { ANSWER_REFUSAL_TEXT, checkAnswer } from '../../policy/answers/check-answer.js';
import type { CommandReply } from '../../protocol/agent/swarm-command.js';
import type { Clock } from '../../protocol/clock.js';
import type { PermissionQuestion } from '../../protocol/permission/permission-question.js';
import {
  type Decision,
  type KnownSurface,
  QuestionClosed,
  type SignedAnswer,
} from '../../protocol/permission/signed-answer.js';
import type { QuestionBoard } from '../../protocol/session/question-board.js';
import { inputDigest } from './input-digest.js';

/** Surface id of the inbox in the journal and in signed answers. */
export const INBOX = 'inbox';

export interface InboxSurface extends KnownSurface {
  /** Applies an answer from another terminal. Resolves with a sentence for its sender. */
  answer(signed: SignedAnswer): Promise<CommandReply>;
}

interface InboxOptions {
  /** The person's public key. */
  readonly publicKey: string;
  readonly board: QuestionBoard;
  readonly clock: Clock;
  /**
   * True if other surfaces are asked as well: the question does not stay open for the inbox alone.
   */
  readonly isOptional?: boolean;
  /** Called when a question has been posted and can be seen. */
  readonly onPosted?: (question: PermissionQuestion) => void;
}

interface Asked {
  readonly question: PermissionQuestion;
  readonly askedAt: number;
  readonly signal: AbortSignal;
  readonly settle: (answer: SignedAnswer) => void;
}

/** Maximum decided questions that are remembered for late answers. */
const MAX_REMEMBERED_DECISIONS = 1_000;

export const inboxSurface = (options: InboxOptions): InboxSurface => {
  const { publicKey, board, clock, onPosted, isOptional = false } = options;
  const open = new Map<string, Asked>();
  const decided = new Map<string, Decision>();
  const remember = (id: string, decision: Decision) => {
    decided.set(id, decision);
    const [oldest] = decided.keys();
    if (decided.size > MAX_REMEMBERED_DECISIONS && oldest !== undefined) decided.delete(oldest);
  };
  return {
    id: INBOX,
    publicKey,
    isOptional,
    async ask(question, signal) {
      const { id } = question;
      const askedAt = clock.now();
      const closed = new Promise<never>((_, reject) => {
        const close = () => {
          const { reason } = signal as { readonly reason: unknown };
          if (reason instanceof QuestionClosed) remember(id, reason.decision);
          reject(reason instanceof Error ? reason : new Error('The question was withdrawn.'));
        };
        if (signal.aborted) close();
        else signal.addEventListener('abort', close, { once: true });
      });
      const answered = new Promise<SignedAnswer>((settle) => {
        open.set(id, { question, askedAt, signal, settle });
      });
      try {
        await Promise.race([board.post({ ...question, askedAt }), closed]);
        onPosted?.(question);
        return await Promise.race([answered, closed]);
      } finally {
        open.delete(id);
        // Not awaited: otherwise the speed of the disk would decide which answer comes first.
        void board.withdraw(id);
      }
    },
    async answer(signed) {
      const asked = open.get(signed.question);
      if (asked === undefined) {
        // The decision for another answer may be stored in the next event loop turn.
        await nextTurn();
        return lateReply(decided.get(signed.question), signed.agent);
      }
      const { id, agent, call, input, tool } = asked.question;
      const checked = checkAnswer(signed, {
        question: id,
        agent,
        call,
        inputDigest: inputDigest(input),
        keys: [{ id: INBOX, publicKey }],
        parent: undefined,
        askedAt: asked.askedAt,
        expiresAt: Number.POSITIVE_INFINITY,
        closed: undefined,
      });
      // A forged answer must not close the question.
      if ('refusal' in checked) {
        const sentence = `The answer does not count: ${ANSWER_REFUSAL_TEXT[checked.refusal]}.`;
        return { ok: false, sentence, agent };
      }
      open.delete(id);
      asked.settle(signed);
      // Meanwhile `askSurfaces` compares the answer with answers of other surfaces.
      await nextTurn();
      const decision = decided.get(id);
      if (decision?.signed?.signature !== signed.signature) return lateReply(decision, agent);
      const deed = signed.answer.behavior === 'allow' ? 'Allowed' : 'Denied';
      return { ok: true, sentence: `${deed}: ${tool} of ${agent}.`, agent };
    },
  };
};

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const lateReply = (decision: Decision | undefined, agent: string): CommandReply => {
  if (decision === undefined) {
    return { ok: false, sentence: 'The question is not open.', agent };
  }
  if (decision.by === undefined) {
    const why = decision.behavior === 'deny' ? ` ${decision.reason}` : '';
    return { ok: false, sentence: `The question is gone.${why}`, agent };
  }
  const who = decision.by === INBOX ? 'somebody in another terminal' : decision.by;
  const deed = decision.behavior === 'allow' ? 'allowed' : 'denied';
  return { ok: false, sentence: `Too late: ${who} has ${deed} it already.`, agent };
};
