/**
 * Asks the person in other terminals: the question is posted where they see it, and counts as answered
 * when somebody with the person's key has signed an answer to it (law 6).
 */
import { checkAnswer, REFUSAL_WORDS } from '../../policy/answers/answer-check.js';
import type { CommandReply } from '../../protocol/agent/swarm-commands.js';
import type { Clock } from '../../protocol/clock.js';
import {
  type Decision,
  type KnownSurface,
  QuestionClosed,
  type SignedAnswer,
} from '../../protocol/permission/answer.js';
import type { PermissionQuestion } from '../../protocol/permission/permission.js';
import type { QuestionBoard } from '../../protocol/session/question-board.js';
import { inputDigest } from './input-digest.js';

/** What the journal calls it, and whoever signs for it. */
export const INBOX = 'inbox';

export interface InboxSurface extends KnownSurface {
  /** What came of an answer, in a sentence for whoever gave it. */
  answer(signed: SignedAnswer): Promise<CommandReply>;
}

export interface InboxOptions {
  /** The person's. */
  readonly publicKey: string;
  readonly board: QuestionBoard;
  readonly clock: Clock;
  /** Others are asked too, and nobody waits for it once they cannot answer. */
  readonly isBeside?: boolean;
  /** Told when a question can be seen. */
  readonly posted?: (question: PermissionQuestion) => void;
}

interface Asked {
  readonly question: PermissionQuestion;
  readonly askedAt: number;
  readonly signal: AbortSignal;
  readonly settle: (answer: SignedAnswer) => void;
}

/** Decided questions that are remembered, for those who come too late. */
const MOST_REMEMBERED = 1_000;

export const inboxSurface = (options: InboxOptions): InboxSurface => {
  const { publicKey, board, clock, posted, isBeside = false } = options;
  const open = new Map<string, Asked>();
  const decided = new Map<string, Decision>();
  const remember = (id: string, decision: Decision) => {
    decided.set(id, decision);
    const [oldest] = decided.keys();
    if (decided.size > MOST_REMEMBERED && oldest !== undefined) decided.delete(oldest);
  };
  return {
    id: INBOX,
    publicKey,
    isBeside,
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
        posted?.(question);
        return await Promise.race([answered, closed]);
      } finally {
        open.delete(id);
        // Not waited for: whoever answered first must not lose to whoever has a faster disk.
        void board.withdraw(id);
      }
    },
    async answer(signed) {
      const asked = open.get(signed.question);
      if (asked === undefined) {
        // Whoever came first may be known in a moment.
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
      // Whoever forges one must not take the question away from the person.
      if ('refusal' in checked) {
        const sentence = `The answer does not count: ${REFUSAL_WORDS[checked.refusal]}.`;
        return { ok: false, sentence, agent };
      }
      open.delete(id);
      asked.settle(signed);
      // Meanwhile it is weighed against what others have said.
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
    return { ok: false, sentence: 'The question is not open (any more).', agent };
  }
  if (decision.by === undefined) {
    const why = decision.behavior === 'deny' ? ` ${decision.reason}` : '';
    return { ok: false, sentence: `The question is gone.${why}`, agent };
  }
  const who = decision.by === INBOX ? 'somebody in another terminal' : decision.by;
  const deed = decision.behavior === 'allow' ? 'allowed' : 'denied';
  return { ok: false, sentence: `Too late: ${who} has ${deed} it already.`, agent };
};
