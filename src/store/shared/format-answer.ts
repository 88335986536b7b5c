/** Formats and parses stored answers, and holds the rule of every store for question ids. */
import { parseJson } from '../../lib/json/parse-json.js';
import { type SignedAnswer, signedAnswer } from '../../protocol/permission/signed-answer.js';
import { MAX_QUESTION_LENGTH } from '../../protocol/session/question-board.js';
import { UsageError } from '../../protocol/skein-error.js';

/** Returns the id. Throws UsageError if it cannot be a part of a key or a file name. */
export const checkQuestionId = (id: string): string => {
  if (/^[\w-]{1,80}$/.test(id)) return id;
  throw new UsageError('This is not the id of a question.');
};

/** Returns the answer as JSON. Throws UsageError if its question id is invalid or it is too long. */
export const formatAnswer = (signed: SignedAnswer): string => {
  checkQuestionId(signed.question);
  const text = JSON.stringify(signed);
  if (text.length <= MAX_QUESTION_LENGTH) return text;
  throw new UsageError(
    `The answer has ${text.length} characters; the limit is ${MAX_QUESTION_LENGTH}.`,
  );
};

/** Returns undefined if the text is not an answer to this question. */
export const parseAnswer = (text: string, question: string): SignedAnswer | undefined => {
  if (text.length > MAX_QUESTION_LENGTH) return undefined;
  const answer = signedAnswer.safeParse(parseJson(text)).data;
  return answer?.question === question ? answer : undefined;
};
