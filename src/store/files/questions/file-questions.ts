/** Open questions as files of a session, `questions/<id>.json`, closed to other users. */
import fs from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../../lib/replace-file.js';
import type { Clock } from '../../../protocol/clock.js';
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
import { FolderWatch } from '../io/folder-watch.js';
import { listNames } from '../io/list-names.js';
import { openRegularFile } from '../io/open-regular-file.js';
import { FileDecisions } from './file-decisions.js';

const SUFFIX = '.json';

/** Maximum decisions of answered questions that are kept for late answers. */
const MAX_KEPT_DECISIONS = 10_000;

/** `session` is the folder of the session. Creates no file before the first question. */
export const fileQuestions = (session: string, clock: Clock): QuestionStore => {
  const folder = join(session, 'questions');
  const decisions = new FileDecisions(session, clock);
  const watch = new FolderWatch(folder, clock);
  return {
    board: questionBoard(folder, decisions),
    read: async () => readQuestions(folder, decisions),
    watch: (onChange) => watch.listen(onChange),
    decisions,
  };
};

const questionBoard = (folder: string, decisions: FileDecisions): QuestionBoard => {
  /** Ids of closed questions, oldest first. */
  const closed: string[] = [];
  return {
    async post(question) {
      const text = JSON.stringify(question);
      if (text.length > MAX_QUESTION_LENGTH) {
        throw new UsageError(
          `The input has ${text.length} characters, too many to be asked about in another terminal.`,
        );
      }
      const path = pathOf(folder, question.id);
      try {
        if (decisions.has(question.id)) return;
        fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
        replaceFile(path, text);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new UsageError(`The question cannot be posted in ${folder} (${code}).`, {
          cause: error,
        });
      }
    },
    async withdraw(id) {
      try {
        fs.rmSync(pathOf(folder, id), { force: true });
        closed.push(id);
        if (closed.length > MAX_KEPT_DECISIONS) decisions.remove(closed.shift() ?? id);
      } catch {
        // An answer to the remaining file has no effect, because the question is closed.
      }
    },
    async clear() {
      try {
        if (fs.existsSync(folder)) fs.rmSync(folder, { recursive: true, force: true });
      } catch {
        // See `withdraw`.
      }
      decisions.clear();
    },
  };
};

/**
 * Reads the open questions, oldest first. Skips decided questions, and skips and counts files that are not
 * questions.
 */
const readQuestions = (folder: string, decisions: FileDecisions): PostedQuestions => {
  const names = listNames(folder).filter((name) => name.endsWith(SUFFIX));
  const questions: PostedQuestion[] = [];
  let leftOut = Math.max(0, names.length - MAX_QUESTIONS);
  for (const name of names.slice(0, MAX_QUESTIONS)) {
    const question = readQuestion(join(folder, name));
    if (question === 'gone') continue;
    if (question === undefined || `${question.id}${SUFFIX}` !== name) leftOut += 1;
    else if (!decisions.has(question.id)) questions.push(question);
  }
  return { questions: questions.sort((a, b) => a.askedAt - b.askedAt), leftOut };
};

/**
 * Returns `gone` if the question was decided meanwhile, and undefined if the file is not a
 * question.
 */
const readQuestion = (path: string): PostedQuestion | 'gone' | undefined => {
  let fd: number | undefined;
  try {
    fd = openRegularFile(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    // A character has at most four bytes.
    if (fs.fstatSync(fd).size > 4 * MAX_QUESTION_LENGTH) return undefined;
    return postedQuestion.safeParse(JSON.parse(fs.readFileSync(fd, 'utf8'))).data;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/** Throws UsageError if the id cannot be a file name. */
const pathOf = (folder: string, id: string): string =>
  join(folder, `${checkQuestionId(id)}${SUFFIX}`);
