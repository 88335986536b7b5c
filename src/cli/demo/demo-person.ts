/**
 * Whoever answers the questions of `skein demo`: the person at the terminal, and where nobody is there, or
 * nobody says anything, a scripted one. Both answer as any second terminal does.
 */
import type { PermissionAnswer } from '../../protocol/permission/permission.js';
import { openArchive } from '../../sdk/assembly/options/open-store.js';
import {
  answerQuestion,
  type OpenQuestion,
  openQuestions,
} from '../../sdk/control/open-questions.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { DEMO_COMMAND } from './demo-script.js';

/** How often it looks for questions. */
const LOOK_EVERY_MS = 150;
/** So that a person can read a question before it is answered. */
const READING_MS = 600;
/** How long the person at the terminal may take. */
const PATIENCE_MS = 20_000;

export interface DemoPersonOptions {
  /** As it is for the swarm: its home, its state. */
  readonly machine: TerminalHost;
  readonly asks: (question: OpenQuestion, isPersonThere: boolean) => void;
  readonly answers: (question: OpenQuestion, words: string) => void;
}

export class DemoPerson {
  /** Questions that were answered. */
  answered = 0;
  private readonly options: DemoPersonOptions;
  private readonly known = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;

  constructor(options: DemoPersonOptions) {
    this.options = options;
  }

  watch(): void {
    if (this.isOver) return;
    this.timer = setTimeout(() => {
      this.look()
        .catch(() => undefined)
        .finally(() => this.watch());
    }, LOOK_EVERY_MS);
  }

  close(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private async look(): Promise<void> {
    const { machine } = this.options;
    const store = await openArchive(machine, {});
    const { questions } = await openQuestions(store);
    for (const open of questions) {
      const { id } = open.question;
      if (this.known.has(id)) continue;
      this.known.add(id);
      const { given, words } = await this.decide(open);
      const reply = await answerQuestion(machine, store, open, given);
      if (reply.ok) this.answered += 1;
      // It may have been asked by a process that is gone: then it is asked again.
      this.options.answers(open, reply.ok ? words : 'Nobody waits for the answer any more.');
    }
  }

  private async decide(open: OpenQuestion): Promise<Decided> {
    const { machine, asks } = this.options;
    const isPersonThere = machine.stdin.isTTY === true && machine.stdout.isTTY === true;
    asks(open, isPersonThere);
    const said = isPersonThere ? await this.person() : undefined;
    if (said !== undefined) return said ? YES : NO;
    await pause(READING_MS);
    return commandOf(open) === DEMO_COMMAND ? SCRIPTED_YES : SCRIPTED_NO;
  }

  /** Undefined when they say nothing. */
  private person(): Promise<boolean | undefined> {
    const { stdin } = this.options.machine;
    return new Promise((resolve) => {
      const end = (answer: boolean | undefined) => {
        clearTimeout(timer);
        stdin.off('data', hear);
        stdin.pause();
        resolve(answer);
      };
      const hear = (chunk: Buffer | string) => {
        const word = String(chunk).trim().toLowerCase();
        end(word === '' || word.startsWith('y'));
      };
      const timer = setTimeout(() => end(undefined), PATIENCE_MS);
      stdin.on('data', hear);
      stdin.resume();
    });
  }
}

interface Decided {
  readonly given: PermissionAnswer;
  readonly words: string;
}

const ALLOW: PermissionAnswer = { behavior: 'allow', scope: 'once' };
const DENY: PermissionAnswer = { behavior: 'deny', reason: 'The person said no.' };

const YES: Decided = { given: ALLOW, words: 'Yes, once, you say.' };
const NO: Decided = { given: DENY, words: 'No, you say.' };
const SCRIPTED_YES: Decided = { given: ALLOW, words: 'Yes, once, says a scripted person.' };
const SCRIPTED_NO: Decided = {
  given: { behavior: 'deny', reason: `The demo allows nothing but "${DEMO_COMMAND}".` },
  words: 'No, says a scripted person.',
};

const commandOf = ({ question: { tool, input } }: OpenQuestion): unknown =>
  tool === 'Bash' ? (input as { command?: unknown }).command : undefined;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
