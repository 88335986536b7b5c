/** Open questions as files of a session's folder, one each, closed to others: `questions/<id>.json`. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import {
  LONGEST_QUESTION,
  MOST_QUESTIONS,
  type PostedQuestion,
  type PostedQuestions,
  postedQuestion,
  type QuestionBoard,
} from '../../protocol/session/question-board.js';
import { openRegular } from './io/regular-file.js';

const SUFFIX = '.json';

/** `session` is the session's folder. Nothing is made before the first question. */
export const questionBoard = (session: string): QuestionBoard => {
  const folder = join(session, 'questions');
  return {
    async post(question) {
      const text = JSON.stringify(question);
      if (text.length > LONGEST_QUESTION) {
        throw new UsageError(
          `The input has ${text.length} characters, too many to be asked about in another terminal.`,
        );
      }
      const draft = join(folder, `${randomBytes(6).toString('hex')}.draft`);
      try {
        fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
        fs.writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
        fs.renameSync(draft, pathOf(folder, question.id));
      } catch (error) {
        fs.rmSync(draft, { force: true });
        const { code } = error as NodeJS.ErrnoException;
        throw new UsageError(`The question cannot be posted in ${folder} (${code}).`, {
          cause: error,
        });
      }
    },
    async withdraw(id) {
      try {
        fs.rmSync(pathOf(folder, id), { force: true });
      } catch {
        // Whoever answers it is told that it is gone.
      }
    },
    async clear() {
      try {
        if (fs.existsSync(folder)) fs.rmSync(folder, { recursive: true, force: true });
      } catch {
        // The same.
      }
    },
  };
};

/** As somebody else sees them. What is no question of ours is left out. */
export const readQuestions = (session: string): PostedQuestions => {
  const folder = join(session, 'questions');
  const names = namesIn(folder).filter((name) => name.endsWith(SUFFIX));
  const questions: PostedQuestion[] = [];
  let leftOut = Math.max(0, names.length - MOST_QUESTIONS);
  for (const name of names.slice(0, MOST_QUESTIONS)) {
    const question = readQuestion(join(folder, name));
    if (question === 'gone') continue;
    if (question === undefined || `${question.id}${SUFFIX}` !== name) leftOut += 1;
    else questions.push(question);
  }
  return { questions: questions.sort((a, b) => a.askedAt - b.askedAt), leftOut };
};

/** `gone` when it was decided meanwhile. */
const readQuestion = (path: string): PostedQuestion | 'gone' | undefined => {
  let fd: number | undefined;
  try {
    fd = openRegular(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    // Four bytes a character at most.
    if (fs.fstatSync(fd).size > 4 * LONGEST_QUESTION) return undefined;
    return postedQuestion.safeParse(JSON.parse(fs.readFileSync(fd, 'utf8'))).data;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

const namesIn = (folder: string): readonly string[] => {
  try {
    return fs.readdirSync(folder).sort();
  } catch {
    return [];
  }
};

/** Ids are ours, but they end up in a path. */
const pathOf = (folder: string, id: string): string => {
  if (!/^[\w-]{1,80}$/.test(id)) throw new UsageError('That is no id of a question.');
  return join(folder, `${id}${SUFFIX}`);
};
