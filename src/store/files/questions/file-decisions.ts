/**
 * Decisions on the questions of a session as files, `decisions/<question>.json`, closed to other
 * users. Each file is created exclusively, so the first answer from any process decides.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../../../lib/json/canonical-json.js';
import { replaceFile } from '../../../lib/replace-file.js';
import type { Clock } from '../../../protocol/clock.js';
import type { SignedAnswer } from '../../../protocol/permission/signed-answer.js';
import { type Decisions, MAX_QUESTION_LENGTH } from '../../../protocol/session/question-board.js';
import { StorageError } from '../../../protocol/skein-error.js';
import { checkQuestionId, formatAnswer, parseAnswer } from '../../shared/format-answer.js';
import { storageError } from '../../shared/storage-error.js';
import { FolderWatch } from '../io/folder-watch.js';
import { openRegularFile } from '../io/open-regular-file.js';

/** Maximum attempts, because another program can write invalid files again and again. */
const MAX_ATTEMPTS = 10;

export class FileDecisions implements Decisions {
  private readonly session: string;
  private readonly watch: FolderWatch;

  /** `session` is the folder of the session. */
  constructor(session: string, clock: Clock) {
    this.session = session;
    this.watch = new FolderWatch(this.folder, clock);
  }

  async decide(signed: SignedAnswer): Promise<SignedAnswer> {
    const text = formatAnswer(signed);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      if (this.create(signed.question, text)) {
        fs.rmSync(this.questionPath(signed.question), { force: true });
        return signed;
      }
      const winner = this.read(signed.question);
      if (winner === 'invalid') this.remove(signed.question);
      else if (winner !== undefined) return winner;
    }
    throw new StorageError(
      `Another program keeps writing invalid values for question ${signed.question}.`,
    );
  }

  async answer(signed: SignedAnswer): Promise<SignedAnswer | undefined> {
    const { question } = signed;
    const text = formatAnswer(signed);
    // The asking process removes the question: it may have posted it again before this process could.
    if (fs.existsSync(this.questionPath(question)) && this.create(question, text)) return signed;
    return this.find(question);
  }

  async find(question: string): Promise<SignedAnswer | undefined> {
    const decision = this.read(question);
    // Only the asking process removes an invalid value: another process could remove its successor.
    if (decision === 'invalid') throw invalidValue(question);
    return decision;
  }

  waitFor(question: string, signal: AbortSignal): Promise<SignedAnswer> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        stopWatching();
        signal.removeEventListener('abort', abort);
        finish();
      };
      const abort = () => settle(() => reject(signal.reason as Error));
      const check = () => {
        try {
          const decision = this.read(question);
          if (decision === undefined) return;
          if (decision !== 'invalid') return settle(() => resolve(decision));
          this.remove(question);
          throw invalidValue(question);
        } catch (error) {
          settle(() => reject(error as Error));
        }
      };
      const stopWatching = this.watch.listen(check, `${checkQuestionId(question)}.json`);
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      check();
    });
  }

  async retract(question: string, signed: SignedAnswer): Promise<void> {
    const stored = this.read(question);
    if (stored === undefined || stored === 'invalid') return;
    // The order of keys in the stored answer is up to its writer.
    if (canonicalJson(stored) === canonicalJson(signed)) this.remove(question);
  }

  has(question: string): boolean {
    return fs.existsSync(this.path(question));
  }

  /** Removes the decision on a question. No error if there is none. Throws StorageError. */
  remove(question: string): void {
    const path = this.path(question);
    try {
      fs.rmSync(path, { recursive: true, force: true });
    } catch (error) {
      throw storageError(error, path);
    }
  }

  /** Removes all decisions. Never throws. */
  clear(): void {
    try {
      fs.rmSync(this.folder, { recursive: true, force: true });
    } catch {
      // A remaining decision has the id of a question that is not asked again.
    }
  }

  private get folder(): string {
    return join(this.session, 'decisions');
  }

  private path(question: string): string {
    return join(this.folder, `${checkQuestionId(question)}.json`);
  }

  private questionPath(question: string): string {
    return join(this.session, 'questions', `${checkQuestionId(question)}.json`);
  }

  /** Returns false if there is a decision. */
  private create(question: string, text: string): boolean {
    const path = this.path(question);
    try {
      fs.mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      replaceFile(path, text, { mustBeNew: true });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw storageError(error, path);
    }
  }

  /** Returns undefined if there is no decision. Throws StorageError if the file cannot be opened. */
  private read(question: string): SignedAnswer | 'invalid' | undefined {
    const path = this.path(question);
    let fd: number | undefined;
    try {
      fd = openRegularFile(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
      // A character has at most four bytes.
      if (fs.fstatSync(fd).size > 4 * MAX_QUESTION_LENGTH) return 'invalid';
      return parseAnswer(fs.readFileSync(fd, 'utf8'), question) ?? 'invalid';
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      if (code === 'ELOOP' || code === 'not a regular file') return 'invalid';
      throw storageError(error, path);
    } finally {
      if (fd !== undefined) fs.closeSync(fd);
    }
  }
}

const invalidValue = (question: string): StorageError =>
  new StorageError(`The stored value for question ${question} is not an answer.`);
