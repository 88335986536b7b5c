/** Decisions on the questions of a swarm: the first answer to each question, for all processes. */

import { z } from 'zod';
import { canonicalJson } from '../../../lib/json/canonical-json.js';
import type { SignedAnswer } from '../../../protocol/permission/signed-answer.js';
import type { Decisions } from '../../../protocol/session/question-board.js';
import { StorageError } from '../../../protocol/skein-error.js';
import { checkQuestionId, formatAnswer, parseAnswer } from '../../shared/format-answer.js';
import type { ChangeHints } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusalError } from '../connection/retry-while-refused.js';
import { type SwarmKeys, VERDICT_MS } from '../connection/swarm-keys.js';
import { QUESTION_SCRIPTS } from './question-scripts.js';

/** Maximum number of attempts, because another client can write invalid values again and again. */
const MAX_ATTEMPTS = 10;

export const redisDecisions = (
  redis: RedisConnections,
  keys: SwarmKeys,
  hints: ChangeHints,
): Decisions => {
  const remove = ({ sha1 }: StoredDecision, question: string) =>
    redis.run(QUESTION_SCRIPTS.void, [keys.verdict(question)], [sha1]);
  const find = async (question: string): Promise<StoredDecision | undefined> =>
    parseStored(await redis.run(QUESTION_SCRIPTS.read, [keys.verdict(question)], []), question);
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
  /** Resolves with the winning answer, or with undefined if the question has to be open and is not. */
  const store = async (
    signed: SignedAnswer,
    when: 'always' | 'if open',
  ): Promise<SignedAnswer | undefined> => {
    const { question } = signed;
    const text = formatAnswer(signed);
    const scriptKeys = [keys.verdict(question), keys.questions];
    const args = [question, text, VERDICT_MS, keys.hints, when];
    try {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const reply = await redis.run(QUESTION_SCRIPTS.decide, scriptKeys, args);
        const stored = parseStored(reply, question);
        if (stored === undefined || stored.answer !== undefined) return stored?.answer;
        await remove(stored, question);
      }
    } catch (error) {
      throw refusalError(redis, error);
    }
    throw new StorageError(`Another client keeps writing invalid values for question ${question}.`);
  };
  return {
    async decide(signed) {
      return (await store(signed, 'always')) ?? signed;
    },
    answer: (signed) => store(signed, 'if open'),
    async find(question) {
      checkQuestionId(question);
      try {
        return await read(question);
      } catch (error) {
        throw refusalError(redis, error);
      }
    },
    waitFor(question, signal) {
      return new Promise((resolve, reject) => {
        const settle = (finish: () => void) => {
          stopListening();
          signal.removeEventListener('abort', abort);
          finish();
        };
        const abort = () => settle(() => reject(signal.reason as Error));
        const check = () =>
          void read(question).then(
            (answer) => answer !== undefined && settle(() => resolve(answer)),
            (error: unknown) => settle(() => reject(refusalError(redis, error))),
          );
        const stopListening = hints.listen((hint) => {
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
  };
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
  return { sha1, answer: parseAnswer(text, question) };
};
