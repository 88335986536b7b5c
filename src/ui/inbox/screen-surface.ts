/** Screen surface: puts questions of agents into an inbox until they are answered. */
import {
  type PermissionAnswer,
  type PermissionQuestion,
  type PersonAnswer,
  type PersonQuestion,
  SURFACE_CLOSED,
  type Surface,
} from '../../protocol/permission/permission-question.js';
import type { InboxEntry, QuestionInbox } from './question-inbox.js';

interface ScreenSurfaceOptions {
  readonly inbox: QuestionInbox;
  /** Returns the display name of an agent. */
  readonly nameOf: (agent: string) => string;
  /** Returns the ancestors and the task of an agent; undefined for the lead. */
  readonly purposeOf: (agent: string) => string | undefined;
  /** Rings the terminal bell. */
  readonly ring: () => void;
  readonly now: () => number;
}

const WITHDRAWN = 'The question was withdrawn.';

export class ScreenSurface implements Surface {
  private readonly options: ScreenSurfaceOptions;
  private readonly open = new Set<(error: Error) => void>();

  constructor(options: ScreenSurfaceOptions) {
    this.options = options;
  }

  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
    return this.put(signal, question.id, (answer) => ({
      kind: 'permission',
      question,
      answer,
      ...this.questionFields(question),
    }));
  }

  choose(question: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer> {
    return this.put(signal, question.id, (answer) => ({
      kind: 'choice',
      question,
      answer,
      ...this.questionFields(question),
    }));
  }

  /** Rejects all open questions. */
  close(): void {
    for (const reject of [...this.open]) reject(new Error(SURFACE_CLOSED));
  }

  private questionFields({ id, agent }: { readonly id: string; readonly agent: string }) {
    const { nameOf, purposeOf, now } = this.options;
    const purpose = purposeOf(agent);
    return {
      id,
      asker: nameOf(agent),
      askedAt: now(),
      ...(purpose !== undefined && { purpose }),
    };
  }

  private put<Answer>(
    signal: AbortSignal,
    id: string,
    entryFor: (answer: (answer: Answer) => void) => InboxEntry,
  ): Promise<Answer> {
    const { inbox, ring } = this.options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(new Error(WITHDRAWN));
        return;
      }
      const withdraw = () => fail(new Error(WITHDRAWN));
      const settle = () => {
        signal.removeEventListener('abort', withdraw);
        this.open.delete(fail);
        inbox.remove(id);
      };
      const fail = (error: Error) => {
        settle();
        reject(error);
      };
      this.open.add(fail);
      signal.addEventListener('abort', withdraw, { once: true });
      inbox.add(
        entryFor((answer) => {
          settle();
          resolve(answer);
        }),
      );
      ring();
    });
  }
}
