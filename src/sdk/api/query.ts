/** `query` and `openSession`: agents as a program runs them. Nothing here writes to a terminal. */
import { UsageError } from '../../protocol/errors.js';
import { InProcessSession, type ProgramSession } from './in-process-session.js';
import type { SkeinMessage } from './messages/messages.js';
import { checkedPrompt, type Prompt, type PromptContent } from './messages/prompt-blocks.js';
import type { QueryOptions } from './query-options.js';
import { SubprocessSession } from './subprocess-session.js';

export interface QueryRequest {
  /**
   * One prompt, or several that come as they come: each is answered before the next is asked for.
   * Left out, a resumed session goes on with what it was doing.
   */
  readonly prompt?: PromptContent | AsyncIterable<PromptContent>;
  readonly options?: QueryOptions;
}

/** The messages of one run, or of several. Whoever leaves the loop early interrupts it. */
export interface Query extends AsyncGenerator<SkeinMessage, void, void> {
  /** Known once the first message has come. */
  readonly sessionId: string | undefined;
  /** Ends the run that is under way, or else the first one; later prompts are still answered. */
  interrupt(): void;
}

/** A session that is kept open between prompts. */
export interface Session {
  readonly id: string;
  /** One prompt at a time. */
  query(prompt: PromptContent, options?: { readonly signal?: AbortSignal }): Query;
  /** Ends what is under way and gives the session back. It can be resumed by its id. */
  close(): Promise<void>;
}

export type QueryFunction = (request: QueryRequest) => Query;
export type OpenSession = (options?: QueryOptions) => Promise<Session>;

/** Programs that a run needs, with their arguments. */
export interface Programs {
  /** Ends what a killed process leaves behind. */
  readonly watchdog: readonly string[];
  /** The command line, for agents in processes of their own. */
  readonly skein: readonly string[];
}

export const queryWith =
  (programs: Programs): QueryFunction =>
  ({ prompt, options = {} }) => {
    const isSeries = isAsyncIterable(prompt);
    return asQuery(options.signal, async function* (control) {
      const only = isSeries ? undefined : promptOf(prompt, options);
      const place = { ...programs, lingers: isSeries, title: only?.title ?? '' };
      const session = await openWherever(options, place);
      control.takeOver(session);
      try {
        if (isSeries) yield* answerAll(session, prompt, control);
        else yield* session.answer(only, control.nextRun());
      } finally {
        await session.close();
      }
    });
  };

export const openSessionWith =
  (programs: Programs): OpenSession =>
  async (options = {}) => {
    const session = await openWherever(options, { ...programs, lingers: true, title: '' });
    return {
      id: session.id,
      query: (prompt, { signal } = {}) =>
        asQuery(options.signal, async function* (control) {
          control.takeOver(session);
          yield* session.answer(checkedPrompt(prompt), either(control.nextRun(), signal));
        }),
      close: () => session.close(),
    };
  };

const openWherever = (
  options: QueryOptions,
  place: Programs & { readonly lingers: boolean; readonly title: string },
): Promise<ProgramSession> =>
  options.subprocess === true
    ? SubprocessSession.open(options, place)
    : InProcessSession.open(options, place);

const answerAll = async function* (
  session: ProgramSession,
  prompts: AsyncIterable<PromptContent>,
  control: Control,
): AsyncGenerator<SkeinMessage, void> {
  const source = prompts[Symbol.asyncIterator]();
  try {
    while (!control.over.aborted) {
      const next = await unlessAborted(source.next(), control.over);
      if (next === undefined || next.done) return;
      yield* session.answer(checkedPrompt(next.value), control.nextRun());
    }
  } finally {
    // One that waits for something cannot be called back, so nobody waits for it.
    source.return?.().catch(() => undefined);
  }
};

/** What can be done to a query from outside of its loop. */
class Control {
  session: ProgramSession | undefined;
  /** Aborts when everything is to end. */
  readonly over: AbortSignal;
  private readonly ending = new AbortController();
  private run = new AbortController();
  private hasRun = false;

  constructor(signal: AbortSignal | undefined) {
    // Options that cannot be used are refused when the query begins.
    const outer = signal instanceof AbortSignal ? signal : undefined;
    this.over = either(this.ending.signal, outer);
  }

  takeOver(session: ProgramSession): void {
    this.session = session;
  }

  /** For the run that begins now; an interrupt that came before the first one is for it. */
  nextRun(): AbortSignal {
    if (this.hasRun) this.run = new AbortController();
    this.hasRun = true;
    return either(this.run.signal, this.over);
  }

  interrupt(): void {
    this.run.abort();
  }

  end(): void {
    this.ending.abort();
  }
}

const asQuery = (
  signal: AbortSignal | undefined,
  run: (control: Control) => AsyncGenerator<SkeinMessage, void, void>,
): Query => {
  const control = new Control(signal);
  const messages = run(control);
  const leave = messages.return.bind(messages);
  return Object.defineProperties(messages as Query, {
    sessionId: { get: () => control.session?.id },
    interrupt: { value: () => control.interrupt() },
    return: {
      value: (value: void | PromiseLike<void>) => {
        control.end();
        return leave(value);
      },
    },
  });
};

const isAsyncIterable = (prompt: QueryRequest['prompt']): prompt is AsyncIterable<PromptContent> =>
  typeof prompt === 'object' && prompt !== null && Symbol.asyncIterator in prompt;

const promptOf = (
  prompt: unknown,
  { resume, continue: goesOn }: QueryOptions,
): Prompt | undefined => {
  if (prompt !== undefined) return checkedPrompt(prompt);
  if (resume !== undefined || goesOn === true) return undefined;
  throw new UsageError('There is no prompt: give one, or resume a session that has work to do.');
};

const either = (one: AbortSignal, other: AbortSignal | undefined): AbortSignal =>
  other === undefined ? one : AbortSignal.any([one, other]);

/** Undefined when the signal aborts first. */
const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const giveUp = () => resolve(undefined);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
