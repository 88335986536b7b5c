/**
 * Open questions of a swarm in Redis, and their decisions. The first answer from any machine
 * decides. Any client of Redis can write any value, so values are checked here, and the process
 * that asked checks the signature of an answer.
 */

import { z } from 'zod';
import { parseJson } from '../../../lib/json/parse-json.js';
import {
  MAX_QUESTION_LENGTH,
  MAX_QUESTIONS,
  type PostedQuestion,
  type PostedQuestions,
  postedQuestion,
  type QuestionBoard,
  type QuestionStore,
} from '../../../protocol/session/question-board.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { checkQuestionId } from '../../shared/format-answer.js';
import { ChangeHints } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusalError } from '../connection/retry-while-refused.js';
import { type SwarmKeys, swarmKeys } from '../connection/swarm-keys.js';
import { QUESTION_SCRIPTS } from './question-scripts.js';
import { redisDecisions } from './redis-decisions.js';

/** Milliseconds after which a question is stale, because no process waits that long. */
const MAX_OPEN_MS = 24 * 60 * 60 * 1_000;
/** Number of questions that a command reads. Questions can be long. */
const BATCH = 16;

export const redisQuestions = (redis: RedisConnections, swarm: string): QuestionStore => {
  const keys = swarmKeys(swarm);
  const hints = new ChangeHints(redis, keys.hints);
  return {
    board: redisBoard(redis, keys),
    read: async () => {
      try {
        return await readQuestions(redis, keys);
      } catch (error) {
        throw refusalError(redis, error);
      }
    },
    watch: (onChange) =>
      hints.listen((hint) => {
        if (hint.startsWith('question:') || hint.startsWith('verdict:')) onChange();
      }, onChange),
    decisions: redisDecisions(redis, keys, hints),
  };
};

/**
 * `clear` withdraws only questions of this process, because other processes of the swarm have their
 * own.
 */
const redisBoard = (redis: RedisConnections, keys: SwarmKeys): QuestionBoard => {
  /** Open questions of this process by id, each with the promise of its post. */
  const posted = new Map<string, Promise<unknown>>();
  const withdraw = async (ids: readonly string[]) => {
    if (ids.length === 0) return;
    // Withdraw after the post, even if Redis is away for long.
    await Promise.allSettled(ids.flatMap((id) => posted.get(id) ?? []));
    for (const id of ids) posted.delete(id);
    await redis
      .run(QUESTION_SCRIPTS.withdraw, [keys.questions], [keys.hints, ...ids])
      .catch(() => {});
  };
  return {
    async post(question) {
      const { id } = question;
      checkQuestionId(id);
      const text = JSON.stringify(question);
      if (text.length > MAX_QUESTION_LENGTH) {
        throw new UsageError(
          `The input has ${text.length} characters, too many to be asked about in another terminal.`,
        );
      }
      const args = [id, text, MAX_OPEN_MS, keys.hints];
      const posting = redis.run(QUESTION_SCRIPTS.post, [keys.questions, keys.verdict(id)], args);
      posted.set(id, posting);
      try {
        await posting;
      } catch (error) {
        const why = refusalError(redis, error).message;
        throw new UsageError(`The question cannot be posted. ${why}`, { cause: error });
      }
    },
    withdraw: (id) => withdraw([id]),
    clear: () => withdraw([...posted.keys()]),
  };
};

const scanReply = z.tuple([z.string(), z.array(z.string())]);

const readQuestions = async (
  redis: RedisConnections,
  keys: SwarmKeys,
): Promise<PostedQuestions> => {
  const [seconds] = z.array(z.coerce.number()).parse(await redis.call('TIME'));
  const texts = new Map<string, string>();
  let cursor = '0';
  do {
    const reply = await redis.call('HSCAN', keys.questions, cursor, 'COUNT', BATCH);
    const [next, flat] = scanReply.parse(reply);
    for (let at = 0; at < flat.length; at += 2) texts.set(flat[at] ?? '', flat[at + 1] ?? '');
    cursor = next;
  } while (cursor !== '0' && texts.size < MAX_QUESTIONS);
  const total = cursor === '0' ? texts.size : Number(await redis.call('HLEN', keys.questions));
  const questions: PostedQuestion[] = [];
  const stale: string[] = [];
  let leftOut = Math.max(0, total - MAX_QUESTIONS);
  for (const [id, text] of [...texts].slice(0, MAX_QUESTIONS)) {
    const postedAt = Number(/^(\d{1,16}) /.exec(text)?.[1]);
    const question = readQuestion(text.slice(text.indexOf(' ') + 1));
    if (postedAt < (seconds ?? 0) * 1_000 - MAX_OPEN_MS) stale.push(id, text);
    else if (Number.isNaN(postedAt) || question?.id !== id) leftOut += 1;
    else questions.push(question);
  }
  if (stale.length > 0) await redis.run(QUESTION_SCRIPTS.forget, [keys.questions], stale);
  return { questions: questions.sort((a, b) => a.askedAt - b.askedAt), leftOut };
};

const readQuestion = (text: string): PostedQuestion | undefined => {
  if (text.length > MAX_QUESTION_LENGTH) return undefined;
  return postedQuestion.safeParse(parseJson(text)).data;
};
