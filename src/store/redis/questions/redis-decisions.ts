/** Answers to questions of a swarm: one of each, the first that somebody gave, for all who want to know. */
import { z } from 'zod';
import { canonicalJson } from '../../../lib/canonical-json.js';
import { StorageError, UsageError } from '../../../protocol/errors.js';
import { type SignedAnswer, signedAnswer } from '../../../protocol/permission/answer.js';
import { type Decisions, LONGEST_QUESTION } from '../../../protocol/session/question-board.js';
import type { RedisHints } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusedBy } from '../connection/redis-errors.js';
import { type SwarmKeys, VERDICT_MS } from '../connection/redis-keys.js';
import { DECIDE, LOOK, VOID } from './question-scripts.js';

/** Somebody may put rubbish there again and again. */
const ATTEMPTS = 10;

export const redisDecisions = (
  broker: RedisConnections,
  keys: SwarmKeys,
  hints: RedisHints,
): Decisions => {
  const remove = ({ mark }: Kept, question: string) =>
    broker.run(VOID, [keys.verdict(question)], [mark]);
  const find = async (question: string): Promise<Kept | undefined> =>
    readKept(await broker.run(LOOK, [keys.verdict(question)], []), question);
  /** Undefined when there is none. */
  const look = async (question: string): Promise<SignedAnswer | undefined> => {
    const kept = await find(question);
    if (kept === undefined || kept.answer !== undefined) return kept?.answer;
    await remove(kept, question);
    throw new StorageError(`What lay in the place of an answer to ${question} is none.`);
  };
  return {
    async decide(signed) {
      const { question } = signed;
      checkId(question);
      const text = JSON.stringify(signed);
      if (text.length > LONGEST_QUESTION) {
        throw new UsageError(`The answer has ${text.length} characters, which is too many.`);
      }
      const places = [keys.verdict(question), keys.questions];
      const terms = [question, text, VERDICT_MS, keys.hints];
      try {
        for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
          const kept = readKept(await broker.run(DECIDE, places, terms), question);
          if (kept?.answer !== undefined) return kept.answer;
          if (kept !== undefined) await remove(kept, question);
        }
      } catch (error) {
        throw refusedBy(broker, error);
      }
      throw new StorageError(`Something that is no answer to ${question} comes in its place.`);
    },
    decided(question, signal) {
      return new Promise((resolve, reject) => {
        const settle = (how: () => void) => {
          stop();
          signal.removeEventListener('abort', giveUp);
          how();
        };
        const giveUp = () => settle(() => reject(signal.reason as Error));
        const lookAgain = () =>
          void look(question).then(
            (answer) => answer !== undefined && settle(() => resolve(answer)),
            (error: unknown) => settle(() => reject(refusedBy(broker, error))),
          );
        const stop = hints.listen((hint) => {
          if (hint === `verdict:${question}`) lookAgain();
        }, lookAgain);
        if (signal.aborted) return giveUp();
        signal.addEventListener('abort', giveUp, { once: true });
        lookAgain();
      });
    },
    async void(question, signed) {
      try {
        const kept = await find(question);
        if (kept?.answer === undefined) return;
        // Whoever wrote it may have written its keys in any order.
        const isThat = canonicalJson(kept.answer) === canonicalJson(signed);
        if (isThat) await remove(kept, question);
      } catch (error) {
        throw refusedBy(broker, error);
      }
    },
    watch(changed) {
      return hints.listen((hint) => {
        if (hint.startsWith('question:') || hint.startsWith('verdict:')) changed();
      }, changed);
    },
  };
};

/** Ids are ours, but they end up in a key. */
export const checkId = (id: string): void => {
  if (!/^[\w-]{1,80}$/.test(id)) throw new UsageError('That is no id of a question.');
};

interface Kept {
  readonly mark: string;
  /** Undefined when it is no answer to this question. */
  readonly answer: SignedAnswer | undefined;
}

const kept = z.tuple([z.string(), z.string()]);

const readKept = (reply: unknown, question: string): Kept | undefined => {
  const { data } = kept.safeParse(reply);
  if (data === undefined) return undefined;
  const [text, mark] = data;
  return { mark, answer: readAnswer(text, question) };
};

const readAnswer = (text: string, question: string): SignedAnswer | undefined => {
  if (text.length > LONGEST_QUESTION) return undefined;
  try {
    const answer = signedAnswer.safeParse(JSON.parse(text)).data;
    return answer?.question === question ? answer : undefined;
  } catch {
    return undefined;
  }
};
