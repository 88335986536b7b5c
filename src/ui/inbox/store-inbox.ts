/**
 * Store inbox: fills an inbox with the open questions of watched swarms.
 *
 * Polls the store when agents start or stop asking, and signs answers with the person's key as `skein approve` does.
 */

import type { PermissionAnswer } from '../../protocol/permission/permission-question.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';
import {
  answerQuestion,
  type OpenQuestion,
  questionsOfSwarms,
} from '../../sdk/control/open-questions.js';
import { formatPurpose } from '../../terminal/format/format-asker.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { displayName, type SwarmView } from '../../views/swarm/swarm-view.js';
import type { PermissionInboxEntry, QuestionInbox } from './question-inbox.js';

interface StoreInboxOptions {
  readonly host: Pick<TerminalHost, 'env' | 'home' | 'cwd'>;
  readonly store: SessionStore;
  readonly inbox: QuestionInbox;
  readonly swarms: () => readonly SwarmView[];
  /** Rings the terminal bell for a new question. */
  readonly ring: () => void;
  /** Shows the outcome of an answer. */
  readonly notify: (sentence: string) => void;
  /** Tracks an answer, so that the store stays open until it is sent. */
  readonly track: <Result>(answer: Promise<Result>) => Promise<Result>;
  readonly onDefect: (error: unknown) => void;
}

/** A question appears in the event log before the store lists it, so the store is polled again. */
const POLL_INTERVAL_MS = 300;
const MAX_POLLS = 20;

export class StoreInbox {
  private readonly options: StoreInboxOptions;
  /** Ids of the questions in the event log at the last refresh. */
  private questionIds = '';
  private pollsLeft = 0;
  private timer: NodeJS.Timeout | undefined;
  private isPolling = false;
  /** Aborted by `close`: outcomes of answers are not shown any more. */
  private readonly closed = new AbortController();
  private readonly answered = new Set<string>();

  constructor(options: StoreInboxOptions) {
    this.options = options;
  }

  /** Polls the store if the open questions in the event log have changed. Cheap if they have not. */
  refresh(): void {
    const questionIds = questionIdsIn(this.options.swarms()).join();
    if (questionIds === this.questionIds) return;
    this.questionIds = questionIds;
    this.pollsLeft = MAX_POLLS;
    this.poll();
  }

  close(): void {
    this.closed.abort();
    clearTimeout(this.timer);
  }

  private get isClosed(): boolean {
    return this.closed.signal.aborted;
  }

  private poll(): void {
    clearTimeout(this.timer);
    if (this.isPolling || this.isClosed) return;
    this.isPolling = true;
    const { store, swarms, onDefect } = this.options;
    const asking = swarms().filter(({ agents }) => agents.some(isAsking));
    const before = this.questionIds;
    questionsOfSwarms(store, asking)
      .then(
        ({ questions }) => this.update(questions),
        // The store reports its own outages, and the next refresh polls again.
        (error: unknown) => (error instanceof SkeinError ? undefined : onDefect(error)),
      )
      .finally(() => {
        this.isPolling = false;
        this.pollLater(before);
      });
  }

  private pollLater(before: string): void {
    const missing = questionIdsIn(this.options.swarms()).some((id) => !this.has(id));
    if (this.isClosed || (before === this.questionIds && (!missing || this.pollsLeft === 0)))
      return;
    this.pollsLeft -= 1;
    this.timer = setTimeout(() => this.poll(), POLL_INTERVAL_MS);
  }

  private has(id: string): boolean {
    return this.answered.has(id) || this.options.inbox.entries.some((entry) => entry.id === id);
  }

  private update(open: readonly OpenQuestion[]): void {
    if (this.isClosed) return;
    const { inbox, ring } = this.options;
    const ids = new Set(open.map(({ question }) => question.id));
    for (const { id } of [...inbox.entries]) if (!ids.has(id)) inbox.remove(id);
    // Forget answers to questions that are closed.
    for (const id of this.answered) if (!ids.has(id)) this.answered.delete(id);
    const fresh = open.filter(({ question }) => !this.has(question.id));
    for (const question of fresh) inbox.add(this.entryOf(question));
    if (fresh.length > 0) ring();
  }

  private entryOf(open: OpenQuestion): PermissionInboxEntry {
    const { question, agent } = open;
    const name = agent === undefined ? 'An agent' : plainText(displayName(agent), 60);
    return {
      kind: 'permission',
      id: question.id,
      question,
      askedAt: question.askedAt,
      asker: `${name} ${plainText(question.agent, 40)}`,
      ...formatPurpose(open),
      answer: (answer) => this.answer(open, answer),
    };
  }

  private answer(open: OpenQuestion, answer: PermissionAnswer): void {
    const { host, store, track, onDefect } = this.options;
    this.answered.add(open.question.id);
    track(answerQuestion(host, store, open, answer)).then(
      ({ ok, sentence }) => this.reportOutcome(open, ok, sentence),
      (error: unknown) => {
        if (error instanceof SkeinError) this.reportOutcome(open, false, error.message);
        else onDefect(error);
      },
    );
  }

  /** Shows the outcome. After a refusal the question reappears, unless another surface has answered it. */
  private reportOutcome({ question }: OpenQuestion, isTaken: boolean, sentence: string): void {
    if (this.isClosed) return;
    this.options.notify(sentence);
    if (isTaken) return;
    this.answered.delete(question.id);
    this.poll();
  }
}

const isAsking = ({ questions }: SwarmView['agents'][number]): boolean => questions.length > 0;

const questionIdsIn = (swarms: readonly SwarmView[]): readonly string[] =>
  swarms.flatMap(({ agents }) =>
    agents.filter(isAsking).flatMap(({ questions }) => questions.map(({ question }) => question)),
  );
