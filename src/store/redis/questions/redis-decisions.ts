/** Decisions on the questions of a swarm: the first answer to each question, for all processes. */

import { z } from 'zod';
import { canonicalJson } from '../../../lib/json/canonical-json.js';
import { parseJson } from '../../../lib/json/parse-json.js';
import { type SignedAnswer, signedAnswer } from '../../../protocol/permission/signed-answer.js';
import { type Decisions, MAX_QUESTION_LENGTH } from '../../../protocol/session/question-board.js';
import { StorageError, UsageError } from '../../../protocol/skein-error.js';
import type { ChangeHints } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusalError } from '../connection/retry-while-refused.js';
import { type SwarmKeys, VERDICT_MS } from '../connection/swarm-keys.js';
import { QUESTION_SCRIPTS } from './question-scripts.js';

/** Maximum number of attempts, because another client can write invalid values again and again. */
const ATTEMPTS = 10;

export const redisDecisions = (
  redis: RedisConnections,
  keys: SwarmKeys,
  hints: ChangeHints,
): Decisions => {
  const remove = ({ sha1 }: StoredDecision, question: string) =>
    redis.run(QUESTION_SCRIPTS.void, [keys.verdict(question)], [sha1]);
  const find = async (question: string): Promise<StoredDecision | undefined> =>
    parseStored(await redis.run(QUESTION_SCRIPTS.look, [keys.verdict(question)], []), question);
  /**
   * Returns undefined if the question is undecided. Rejects with StorageError for a value that is
   * no answer.
   */
  const read = async (question: string): Promise<SignedAnswer | undefined> => {
    const stored = await find(question);
    if (stored === undefined || stored.answer !== undefined) return stored?.answer;
    await remove(stored, question);
    throw new StorageError(`The stored value for question ${question} is not an answer.`);
  };
  return {
    async decide(signed) {
      const { question } = signed;
      checkQuestionId(question);
      const text = JSON.stringify(signed);
      if (text.length > MAX_QUESTION_LENGTH) {
        throw new UsageError(`The answer has ${text.length} characters, which is too many.`);
      }
      const scriptKeys = [keys.verdict(question), keys.questions];
      const args = [question, text, VERDICT_MS, keys.hints];
      try {
        for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
          const stored = parseStored(
            await redis.run(QUESTION_SCRIPTS.decide, scriptKeys, args),
            question,
          );
          if (stored?.answer !== undefined) return stored.answer;
          if (stored !== undefined) await remove(stored, question);
        }
      } catch (error) {
        throw refusalError(redis, error);
      }
      throw new StorageError(
        `Another client keeps writing invalid values for question ${question}.`,
      );
    },
    waitFor(question, signal) {
      return new Promise((resolve, reject) => {
        const settle = (how: () => void) => {
          stop();
          signal.removeEventListener('abort', abort);
          how();
        };
        const abort = () => settle(() => reject(signal.reason as Error));
        const check = () =>
          void read(question).then(
            (answer) => answer !== undefined && settle(() => resolve(answer)),
            (error: unknown) => settle(() => reject(refusalError(redis, error))),
          );
        const stop = hints.listen((hint) => {
          if (hint === `verdict:${question}`) check();
        }, check);
        if (signal.aborted) return abort();
        signal.addEventListener('abort', abort, { once: true });
        check();
      });
    },
    async retract(question, signed) {
      try {
        const stored = await find(question);
        if (stored?.answer === undefined) return;
        // The order of keys in the stored answer is up to its writer.
        const isSame = canonicalJson(stored.answer) === canonicalJson(signed);
        if (isSame) await remove(stored, question);
      } catch (error) {
        throw refusalError(redis, error);
      }
    },
    watch(changed) {
      return hints.listen((hint) => {
        if (hint.startsWith('question:') || hint.startsWith('verdict:')) changed();
      }, changed);
    },
  };
};

/** Throws UsageError if the id cannot be a part of a key. */
export const checkQuestionId = (id: string): void => {
  if (!/^[\w-]{1,80}$/.test(id)) throw new UsageError('This is not the id of a question.');
};

interface StoredDecision {
  readonly sha1: string;
  /** Undefined if the value is not an answer to this question. */
  readonly answer: SignedAnswer | undefined;
}

const storedReply = z.tuple([z.string(), z.string()]);

const parseStored = (reply: unknown, question: string): StoredDecision | undefined => {
  const { data } = storedReply.safeParse(reply);
  if (data === undefined) return undefined;
  const [text, sha1] = data;
  return { sha1, answer: readAnswer(text, question) };
};

const readAnswer = (text: string, question: string): SignedAnswer | undefined => {
  if (text.length > MAX_QUESTION_LENGTH) return undefined;
  const answer = signedAnswer.safeParse(parseJson(text)).data;
  return answer?.question === question ? answer : undefined;
};
