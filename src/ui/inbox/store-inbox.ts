/**
 * The questions of swarms that somebody watches, kept in an inbox: looked for when agents begin or cease to
 * ask, and answered with the person's key as `skein approve` does.
 */
import { SkeinError } from '../../protocol/errors.js';
import type { PermissionAnswer } from '../../protocol/permission/permission.js';
import type { SessionStore } from '../../protocol/session/store.js';
import {
  answerQuestion,
  type OpenQuestion,
  questionsOfSwarms,
} from '../../sdk/control/open-questions.js';
import { purposeOf } from '../../terminal/format/format-asker.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { calledOf, type SwarmView } from '../../views/swarm/swarm-view.js';
import type { Inbox, PermissionEntry } from './inbox.js';

export interface StoreInboxOptions {
  readonly machine: Pick<TerminalHost, 'env' | 'home' | 'cwd'>;
  readonly store: SessionStore;
  readonly inbox: Inbox;
  readonly swarms: () => readonly SwarmView[];
  /** A question is new: somebody should look. */
  readonly ring: () => void;
  /** What came of an answer. */
  readonly say: (sentence: string) => void;
  /** An answer is on its way before the store is closed. */
  readonly keep: <Result>(work: Promise<Result>) => Promise<Result>;
  readonly onDefect: (error: unknown) => void;
}

/** A question is on record a moment before it can be read where it is answered. */
const AGAIN_MS = 300;
const MOST_TRIES = 20;

export class StoreInbox {
  private readonly options: StoreInboxOptions;
  /** What agents ask, as the log told it when it was last looked at. */
  private asked = '';
  private tries = 0;
  private timer: NodeJS.Timeout | undefined;
  private isLooking = false;
  /** Nobody looks at what comes of an answer any more. */
  private readonly closed = new AbortController();
  private readonly answered = new Set<string>();

  constructor(options: StoreInboxOptions) {
    this.options = options;
  }

  /** To be called when the swarms may have changed; costs one pass over those who ask. */
  refresh(): void {
    const asked = askedIn(this.options.swarms()).join();
    if (asked === this.asked) return;
    this.asked = asked;
    this.tries = MOST_TRIES;
    this.look();
  }

  close(): void {
    this.closed.abort();
    clearTimeout(this.timer);
  }

  private get isClosed(): boolean {
    return this.closed.signal.aborted;
  }

  private look(): void {
    clearTimeout(this.timer);
    if (this.isLooking || this.isClosed) return;
    this.isLooking = true;
    const { store, swarms, onDefect } = this.options;
    const asking = swarms().filter(({ agents }) => agents.some(isAsking));
    const before = this.asked;
    questionsOfSwarms(store, asking)
      .then(
        ({ questions }) => this.take(questions),
        // A store that is away comes back, and says so itself.
        (error: unknown) => (error instanceof SkeinError ? undefined : onDefect(error)),
      )
      .finally(() => {
        this.isLooking = false;
        this.lookAgain(before);
      });
  }

  private lookAgain(before: string): void {
    const missing = askedIn(this.options.swarms()).some((id) => !this.has(id));
    if (this.isClosed || (before === this.asked && (!missing || this.tries === 0))) return;
    this.tries -= 1;
    this.timer = setTimeout(() => this.look(), AGAIN_MS);
  }

  private has(id: string): boolean {
    return this.answered.has(id) || this.options.inbox.entries.some((entry) => entry.id === id);
  }

  private take(open: readonly OpenQuestion[]): void {
    if (this.isClosed) return;
    const { inbox, ring } = this.options;
    const ids = new Set(open.map(({ question }) => question.id));
    for (const { id } of [...inbox.entries]) if (!ids.has(id)) inbox.remove(id);
    // What is not asked any more need not be remembered.
    for (const id of this.answered) if (!ids.has(id)) this.answered.delete(id);
    const fresh = open.filter(({ question }) => !this.has(question.id));
    for (const one of fresh) inbox.add(this.entryOf(one));
    if (fresh.length > 0) ring();
  }

  private entryOf(open: OpenQuestion): PermissionEntry {
    const { question, agent } = open;
    const who = agent === undefined ? 'An agent' : plainText(calledOf(agent), 60);
    return {
      kind: 'permission',
      id: question.id,
      question,
      askedAt: question.askedAt,
      asker: `${who} ${plainText(question.agent, 40)}`,
      ...purposeOf(open),
      answer: (answer) => this.answer(open, answer),
    };
  }

  private answer(open: OpenQuestion, answer: PermissionAnswer): void {
    const { machine, store, keep, onDefect } = this.options;
    this.answered.add(open.question.id);
    keep(answerQuestion(machine, store, open, answer, this.closed.signal)).then(
      ({ ok, sentence }) => this.told(open, ok, sentence),
      (error: unknown) => {
        if (error instanceof SkeinError) this.told(open, false, error.message);
        else onDefect(error);
      },
    );
  }

  /** What was refused is asked as before, unless somebody else was first. */
  private told({ question }: OpenQuestion, isTaken: boolean, sentence: string): void {
    if (this.isClosed) return;
    this.options.say(sentence);
    if (isTaken) return;
    this.answered.delete(question.id);
    this.look();
  }
}

const isAsking = ({ questions }: SwarmView['agents'][number]): boolean => questions.length > 0;

const askedIn = (swarms: readonly SwarmView[]): readonly string[] =>
  swarms.flatMap(({ agents }) =>
    agents.filter(isAsking).flatMap(({ questions }) => questions.map(({ question }) => question)),
  );
