/**
 * Open questions of a swarm in Redis, and what was decided about them: whoever answers first, on whatever
 * machine, has decided for all. Whoever can write to Redis can write anything there, so nothing that is
 * read is believed: an answer counts when whoever asked has found its signature good.
 */
import { z } from 'zod';
import { UsageError } from '../../../protocol/errors.js';
import {
  LONGEST_QUESTION,
  MOST_QUESTIONS,
  type PostedQuestion,
  type PostedQuestions,
  postedQuestion,
  type QuestionBoard,
  type QuestionDesk,
} from '../../../protocol/session/question-board.js';
import { RedisHints } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusedBy } from '../connection/redis-errors.js';
import { type SwarmKeys, swarmKeys } from '../connection/redis-keys.js';
import { FORGET, POST, WITHDRAW } from './question-scripts.js';
import { checkId, redisDecisions } from './redis-decisions.js';

/** Nobody waits so long for an answer: whoever asked is gone. */
const LONGEST_OPEN_MS = 24 * 60 * 60 * 1_000;
/** Read at once; they may be long. */
const AT_ONCE = 16;

export const redisQuestions = (broker: RedisConnections, swarm: string): QuestionDesk => {
  const keys = swarmKeys(swarm);
  const hints = new RedisHints(broker, keys.hints);
  return {
    board: redisBoard(broker, keys),
    read: async () => {
      try {
        return await readQuestions(broker, keys);
      } catch (error) {
        throw refusedBy(broker, error);
      }
    },
    verdicts: redisDecisions(broker, keys, hints),
  };
};

/** `clear` takes away what was posted here: others of the same swarm have questions of their own. */
const redisBoard = (broker: RedisConnections, keys: SwarmKeys): QuestionBoard => {
  /** By id: open as far as is known here, and when it could be seen. */
  const posted = new Map<string, Promise<unknown>>();
  const withdraw = async (ids: readonly string[]) => {
    if (ids.length === 0) return;
    // Not ahead of it, however long Redis is away.
    await Promise.allSettled(ids.flatMap((id) => posted.get(id) ?? []));
    for (const id of ids) posted.delete(id);
    await broker.run(WITHDRAW, [keys.questions], [keys.hints, ...ids]).catch(() => {});
  };
  return {
    async post(question) {
      const { id } = question;
      checkId(id);
      const text = JSON.stringify(question);
      if (text.length > LONGEST_QUESTION) {
        throw new UsageError(
          `The input has ${text.length} characters, too many to be asked about in another terminal.`,
        );
      }
      const terms = [id, text, LONGEST_OPEN_MS, keys.hints];
      const posting = broker.run(POST, [keys.questions, keys.verdict(id)], terms);
      posted.set(id, posting);
      try {
        await posting;
      } catch (error) {
        const why = refusedBy(broker, error).message;
        throw new UsageError(`The question cannot be posted. ${why}`, { cause: error });
      }
    },
    withdraw: (id) => withdraw([id]),
    clear: () => withdraw([...posted.keys()]),
  };
};

const scanned = z.tuple([z.string(), z.array(z.string())]);

const readQuestions = async (
  broker: RedisConnections,
  keys: SwarmKeys,
): Promise<PostedQuestions> => {
  const [seconds] = z.array(z.coerce.number()).parse(await broker.call('TIME'));
  const found = new Map<string, string>();
  let cursor = '0';
  do {
    const reply = await broker.call('HSCAN', keys.questions, cursor, 'COUNT', AT_ONCE);
    const [next, flat] = scanned.parse(reply);
    for (let at = 0; at < flat.length; at += 2) found.set(flat[at] ?? '', flat[at + 1] ?? '');
    cursor = next;
  } while (cursor !== '0' && found.size < MOST_QUESTIONS);
  const total = cursor === '0' ? found.size : Number(await broker.call('HLEN', keys.questions));
  const questions: PostedQuestion[] = [];
  const stale: string[] = [];
  let leftOut = Math.max(0, total - MOST_QUESTIONS);
  for (const [id, text] of [...found].slice(0, MOST_QUESTIONS)) {
    const postedAt = Number(/^(\d{1,16}) /.exec(text)?.[1]);
    const question = readQuestion(text.slice(text.indexOf(' ') + 1));
    if (postedAt < (seconds ?? 0) * 1_000 - LONGEST_OPEN_MS) stale.push(id, text);
    else if (Number.isNaN(postedAt) || question?.id !== id) leftOut += 1;
    else questions.push(question);
  }
  if (stale.length > 0) await broker.run(FORGET, [keys.questions], stale);
  return { questions: questions.sort((a, b) => a.askedAt - b.askedAt), leftOut };
};

const readQuestion = (text: string): PostedQuestion | undefined => {
  if (text.length > LONGEST_QUESTION) return undefined;
  try {
    return postedQuestion.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
