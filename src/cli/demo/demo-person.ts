/**
 * Demo person: answers the questions of `skein demo`. Asks the person at the terminal, and answers
 * by script if there is none or no answer comes. Answers arrive as from a second terminal.
 */
import type { PermissionAnswer } from '../../protocol/permission/permission-question.js';
import { openExistingStore } from '../../sdk/assembly/options/open-store.js';
import {
  answerQuestion,
  type OpenQuestion,
  openQuestions,
} from '../../sdk/control/open-questions.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { DEMO_COMMAND } from './demo-script.js';

/** Interval between polls for questions, in milliseconds. */
const POLL_INTERVAL_MS = 150;
/** Delay of a scripted answer, so that the question can be read, in milliseconds. */
const READING_TIME_MS = 600;
/** Time that the person at the terminal has to answer, in milliseconds. */
const ANSWER_LIMIT_MS = 20_000;

interface DemoPersonOptions {
  /** Host with the home and state of the swarm. */
  readonly host: TerminalHost;
  readonly asks: (question: OpenQuestion, isPersonThere: boolean) => void;
  readonly answers: (question: OpenQuestion, text: string) => void;
}

export class DemoPerson {
  /** Number of answered questions. */
  answered = 0;
  private readonly options: DemoPersonOptions;
  private readonly seenIds = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;

  constructor(options: DemoPersonOptions) {
    this.options = options;
  }

  watch(): void {
    if (this.isOver) return;
    this.timer = setTimeout(() => {
      this.poll()
        .catch(() => undefined)
        .finally(() => this.watch());
    }, POLL_INTERVAL_MS);
  }

  close(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private async poll(): Promise<void> {
    const { host } = this.options;
    const store = await openExistingStore(host, {});
    const { questions } = await openQuestions(store);
    for (const open of questions) {
      const { id } = open.question;
      if (this.seenIds.has(id)) continue;
      this.seenIds.add(id);
      const { answer, text } = await this.decide(open);
      const reply = await answerQuestion(host, store, open, answer);
      if (reply.ok) this.answered += 1;
      // The asking process may have been killed. Its successor asks again.
      this.options.answers(open, reply.ok ? text : 'The asking process has ended.');
    }
  }

  private async decide(open: OpenQuestion): Promise<Decision> {
    const { host, asks } = this.options;
    const isPersonThere = host.stdin.isTTY === true && host.stdout.isTTY === true;
    asks(open, isPersonThere);
    const answer = isPersonThere ? await this.readAnswer() : undefined;
    if (answer !== undefined) return answer ? YES : NO;
    await pause(READING_TIME_MS);
    return commandOf(open) === DEMO_COMMAND ? SCRIPTED_YES : SCRIPTED_NO;
  }

  /** Resolves with undefined if no answer comes in time. */
  private readAnswer(): Promise<boolean | undefined> {
    const { stdin } = this.options.host;
    return new Promise((resolve) => {
      const end = (isYes: boolean | undefined) => {
        clearTimeout(timer);
        stdin.off('data', onData);
        stdin.pause();
        resolve(isYes);
      };
      const onData = (chunk: Buffer | string) => {
        const word = String(chunk).trim().toLowerCase();
        end(word === '' || word.startsWith('y'));
      };
      const timer = setTimeout(() => end(undefined), ANSWER_LIMIT_MS);
      stdin.on('data', onData);
      stdin.resume();
    });
  }
}

interface Decision {
  readonly answer: PermissionAnswer;
  readonly text: string;
}

const ALLOW: PermissionAnswer = { behavior: 'allow', scope: 'once' };
const DENY: PermissionAnswer = { behavior: 'deny', reason: 'The person said no.' };

const YES: Decision = { answer: ALLOW, text: 'You answered yes, once.' };
const NO: Decision = { answer: DENY, text: 'You answered no.' };
const SCRIPTED_YES: Decision = { answer: ALLOW, text: 'The scripted person answered yes, once.' };
const SCRIPTED_NO: Decision = {
  answer: { behavior: 'deny', reason: `The demo allows nothing but "${DEMO_COMMAND}".` },
  text: 'The scripted person answered no.',
};

const commandOf = ({ question: { tool, input } }: OpenQuestion): unknown =>
  tool === 'Bash' ? (input as { command?: unknown }).command : undefined;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
