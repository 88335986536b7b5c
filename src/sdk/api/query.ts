/** Query functions of the SDK: `query` and `openSession`. They never write to the terminal. */
import { setImmediate } from 'node:timers/promises';
import { UsageError } from '../../protocol/skein-error.js';
import { InProcessSession, type ProgramSession } from './in-process-session.js';
import { checkedPrompt, type Prompt, type PromptContent } from './messages/prompt-content.js';
import type { SkeinMessage } from './messages/skein-message.js';
import type { QueryOptions } from './query-options.js';
import { SubprocessSession } from './subprocess-session.js';

export interface QueryRequest {
  /**
   * One prompt, or a series: the next prompt is read when the last one is answered, and after the last prompt the
   * query waits for background agents. Default: a resumed session continues its last run.
   */
  readonly prompt?: PromptContent | AsyncIterable<PromptContent>;
  readonly options?: QueryOptions;
}

/** Messages of one or more runs. Leaving the loop early interrupts the run. */
export interface Query extends AsyncGenerator<SkeinMessage, void, void> {
  /** Id of the session. Undefined before the first message. */
  readonly sessionId: string | undefined;
  /** Interrupts the current run, or the first run if none has started. Later prompts are still answered. */
  interrupt(): void;
}

/** A session that is kept open between prompts. */
export interface Session {
  readonly id: string;
  /** Runs a prompt. Throws UsageError on iteration if another prompt is running. */
  query(prompt: PromptContent, options?: { readonly signal?: AbortSignal }): Query;
  /** Interrupts the current run and closes the session, which can be resumed by its id. */
  close(): Promise<void>;
}

export type QueryFunction = (request: QueryRequest) => Query;
export type OpenSession = (options?: QueryOptions) => Promise<Session>;

/** Programs that a session starts, with their arguments. */
interface Programs {
  /** Watchdog, which ends child processes that a killed process leaves behind. */
  readonly watchdog: readonly string[];
  /** Command line of Skein, for agents in their own process. */
  readonly skein: readonly string[];
  /** Path of the program of threads that scan large workspaces. Default: no threads. */
  readonly shardThread?: string;
}

export const queryWith =
  (programs: Programs): QueryFunction =>
  ({ prompt, options = {} }) => {
    const isSeries = isAsyncIterable(prompt);
    return asQuery(options.signal, async function* (control) {
      const firstPrompt = isSeries ? undefined : promptOf(prompt, options);
      const title = firstPrompt?.title ?? '';
      const session = await openProgramSession(options, {
        ...programs,
        staysIdle: isSeries,
        title,
      });
      control.takeOver(session);
      try {
        if (isSeries) yield* answerAll(session, prompt, control);
        else yield* session.answer(firstPrompt, control.nextRun());
      } finally {
        await session.close();
      }
    });
  };

export const openSessionWith =
  (programs: Programs): OpenSession =>
  async (options = {}) => {
    const session = await openProgramSession(options, { ...programs, staysIdle: true, title: '' });
    return {
      id: session.id,
      query: (prompt, { signal } = {}) =>
        asQuery(options.signal, async function* (control) {
          control.takeOver(session);
          yield* session.answer(checkedPrompt(prompt), eitherSignal(control.nextRun(), signal));
        }),
      close: () => session.close(),
    };
  };

const openProgramSession = (
  options: QueryOptions,
  opened: Programs & { readonly staysIdle: boolean; readonly title: string },
): Promise<ProgramSession> =>
  options.subprocess === true
    ? SubprocessSession.open(options, opened)
    : InProcessSession.open(options, opened);

const answerAll = async function* (
  session: ProgramSession,
  prompts: AsyncIterable<PromptContent>,
  control: QueryControl,
): AsyncGenerator<SkeinMessage, void> {
  const source = prompts[Symbol.asyncIterator]();
  let hasAnswered = false;
  try {
    while (!control.over.aborted) {
      const coming = source.next();
      if (hasAnswered) yield* watchUntil(coming, session, control);
      hasAnswered = true;
      const next = await unlessAborted(coming, control.over);
      if (next === undefined) return;
      if (next.done) {
        yield* session.settle(control.nextRun());
        return;
      }
      yield* session.answer(checkedPrompt(next.value), control.nextRun());
    }
  } finally {
    // Not awaited: the series may be waiting for a prompt and would return only after it.
    source.return?.().catch(() => undefined);
  }
};

/** Yields the runs that reports of background agents start until the next prompt comes. */
const watchUntil = async function* (
  coming: Promise<unknown>,
  session: ProgramSession,
  control: QueryControl,
): AsyncGenerator<SkeinMessage, void> {
  const arrival = new AbortController();
  const arrive = () => arrival.abort();
  const arrived = coming.then(arrive, arrive);
  // A prompt that is there already needs no watch.
  await Promise.race([arrived, setImmediate()]);
  if (arrival.signal.aborted) return;
  const interrupt = () => session.interrupt();
  control.over.addEventListener('abort', interrupt, { once: true });
  control.isWatching = true;
  try {
    yield* session.watch(AbortSignal.any([arrival.signal, control.over]));
  } finally {
    control.isWatching = false;
    control.over.removeEventListener('abort', interrupt);
  }
};

/** Interrupts and ends a query from outside its loop. */
class QueryControl {
  session: ProgramSession | undefined;
  /** True between two prompts, when reports may start runs. */
  isWatching = false;
  /** Aborts when the whole query ends. */
  readonly over: AbortSignal;
  private readonly ending = new AbortController();
  private run = new AbortController();
  private hasRun = false;

  constructor(signal: AbortSignal | undefined) {
    // Invalid options are reported when the query starts.
    const outer = signal instanceof AbortSignal ? signal : undefined;
    this.over = eitherSignal(this.ending.signal, outer);
  }

  takeOver(session: ProgramSession): void {
    this.session = session;
  }

  /** Returns the signal of the next run. An interrupt before the first run applies to it. */
  nextRun(): AbortSignal {
    if (this.hasRun) this.run = new AbortController();
    this.hasRun = true;
    return eitherSignal(this.run.signal, this.over);
  }

  interrupt(): void {
    this.run.abort();
    if (this.isWatching) this.session?.interrupt();
  }

  end(): void {
    this.ending.abort();
  }
}

const asQuery = (
  signal: AbortSignal | undefined,
  run: (control: QueryControl) => AsyncGenerator<SkeinMessage, void, void>,
): Query => {
  const control = new QueryControl(signal);
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
  { resume, continue: isContinued }: QueryOptions,
): Prompt | undefined => {
  if (prompt !== undefined) return checkedPrompt(prompt);
  if (resume !== undefined || isContinued === true) return undefined;
  throw new UsageError(
    'There is no prompt: give one, or resume a session that has an unfinished run.',
  );
};

const eitherSignal = (first: AbortSignal, second: AbortSignal | undefined): AbortSignal =>
  second === undefined ? first : AbortSignal.any([first, second]);

/** Resolves with undefined if the signal aborts first. */
const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const giveUp = () => resolve(undefined);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
