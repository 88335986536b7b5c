/** Session of a program in its own process: takes one prompt at a time and yields messages. */
import { randomUUID } from 'node:crypto';
import { lastAnswer } from '../../context/history/last-answer.js';
import { stops } from '../../machines/stops.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { UsageError } from '../../protocol/skein-error.js';
import { type HostSession, openHostSession } from '../assembly/open-host-session.js';
import { feedUntilSettled } from '../control/feed-until-settled.js';
import { untilIdle } from '../control/until-idle.js';
import { callbackSurface } from './callback-surface.js';
import { initMessage } from './messages/init-message.js';
import type { Prompt } from './messages/prompt-content.js';
import { RunResultBuilder } from './messages/run-result-builder.js';
import type { SkeinMessage } from './messages/skein-message.js';
import { TaskMessages } from './messages/task-messages.js';
import { belongingOf, noticeMessage, toMessage } from './messages/to-message.js';
import { queryEnvironment, queryProvider, toRunOptions } from './query-environment.js';
import { checkOptions, type QueryOptions } from './query-options.js';

export interface InProcessOptions {
  /** Program and arguments that start the watchdog process. */
  readonly watchdog: readonly string[];
  /** Path of the program of threads that scan large workspaces. Default: no threads. */
  readonly shardThread?: string | undefined;
  readonly title: string;
  /** True if the lead waits for the next prompt after a run instead of stopping. */
  readonly staysIdle: boolean;
}

/** Session of `query` and `openSession`, in this process or in another. */
export interface ProgramSession {
  readonly id: string;
  /**
   * Runs the prompt and yields messages up to the result. Returning the iterator early, or aborting
   * `signal`, interrupts the run.
   */
  answer(prompt: Prompt | undefined, signal: AbortSignal): AsyncGenerator<SkeinMessage, void>;
  /**
   * Waits for background agents. Yields the messages of the runs that their reports start, each with its
   * result. Aborting `signal` interrupts the run and ends the wait.
   */
  settle(signal: AbortSignal): AsyncGenerator<SkeinMessage, void>;
  /**
   * Yields the messages of the runs that reports of background agents start, each with its result. Ends when `until`
   * aborts and the session is idle.
   */
  watch(until: AbortSignal): AsyncGenerator<SkeinMessage, void>;
  /** Interrupts the active run, if any. */
  interrupt(): void;
  close(): Promise<void>;
}

/** Throws UsageError if the session is closed or busy. */
export const assertUsable = (isClosed: boolean, isBusy: boolean): void => {
  if (isClosed) throw new UsageError('The session is closed; open it again to continue.');
  if (isBusy)
    throw new UsageError('The session answers one prompt at a time; wait for the result.');
};

/** Items between two runs that the next run has among its messages. */
const LATE_TYPES: ReadonlySet<FeedItem['type']> = new Set([
  'notice',
  'agent.spawned',
  'agent.ended',
  'agent.rested',
]);
/** Items that do not belong to a run of the lead. */
const OUTER_TYPES: ReadonlySet<FeedItem['type']> = new Set([
  ...LATE_TYPES,
  'agent.feed' as const,
  'agent.seen' as const,
  'fan-out.previewed' as const,
]);
/** Maximum items between two runs. The oldest are dropped, because a session may be idle for days. */
const MAX_LATE_ITEMS = 100;

export class InProcessSession implements ProgramSession {
  readonly id: string;
  private readonly hostSession: HostSession;
  private readonly tasks: TaskMessages;
  private readonly wantsJson: boolean;
  private readonly staysIdle: boolean;
  /** Notices of the start that no message has carried yet. */
  private readonly notices: string[];
  /** Feed items outside of a run that no message has carried yet. */
  private readonly lateItems: FeedItem[] = [];
  /** Part of the feed that is read now. Notices of that part are among its messages. */
  private reading: 'none' | 'run' | 'all' = 'none';
  private isBusy = false;
  private isClosed = false;
  private isUntitled: boolean;

  private constructor(
    opened: HostSession,
    { jsonSchema }: QueryOptions,
    { staysIdle }: InProcessOptions,
    notices: string[],
  ) {
    this.id = opened.session.id;
    this.hostSession = opened;
    this.tasks = new TaskMessages(this.id);
    this.isUntitled = opened.session.meta.title === '';
    this.wantsJson = jsonSchema !== undefined;
    this.staysIdle = staysIdle;
    this.notices = notices;
    opened.session.listen((item) => {
      if (this.reading === 'none') this.keepLate(item);
      else if (this.reading === 'run' && item.type === 'run.ended') this.reading = 'none';
    });
  }

  /** Rejects with UsageError if the options cannot be used; then everything is closed again. */
  static async open(options: QueryOptions, hosted: InProcessOptions): Promise<InProcessSession> {
    checkOptions(options);
    const { watchdog, shardThread, title, staysIdle } = hosted;
    const notices: string[] = [];
    const notify = (sentence: string) => notices.push(sentence);
    const provider = queryProvider(options);
    const opened = await openHostSession({
      host: { ...queryEnvironment(options), watchdog, shardThread, notify },
      flags: toRunOptions(options),
      surfaces: callbackSurface(options),
      hooks: options.hooks,
      title: options.title ?? title,
      staysIdle,
      entrypoint: 'sdk',
      wantsStreamEvents: options.includePartialMessages ?? false,
      ...(options.tools !== undefined && { tools: options.tools }),
      ...(provider !== undefined && { provider }),
    });
    notices.push(...opened.notices);
    return new InProcessSession(opened, options, hosted, notices);
  }

  async *answer(
    prompt: Prompt | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<SkeinMessage, void> {
    const { session, facts } = this.hostSession;
    assertUsable(this.isClosed, this.isBusy);
    this.isBusy = true;
    try {
      yield initMessage(session, facts, randomUUID());
      yield* this.takeLate();
      const { blocks, title = '' } = prompt ?? {};
      await this.setTitle(title);
      const earlier = blocks === undefined ? lastAnswer(session.journal.history.messages) : '';
      yield* this.follow(session.run(blocks), new RunResultBuilder(earlier), signal);
    } finally {
      await this.endReading();
    }
  }

  async *settle(signal: AbortSignal): AsyncGenerator<SkeinMessage, void> {
    const { session } = this.hostSession;
    assertUsable(this.isClosed, this.isBusy);
    const interrupt = () => session.interrupt();
    this.isBusy = true;
    this.reading = 'all';
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      const result = yield* this.reports(feedUntilSettled(session, signal), () => false);
      // The last agents have ended without a report to the lead.
      const stop = signal.aborted ? stops.INTERRUPTED : stops.ENDED;
      if (result !== undefined) yield result.toMessage(session, stop, randomUUID(), this.wantsJson);
    } finally {
      signal.removeEventListener('abort', interrupt);
      await this.endReading();
    }
  }

  async *watch(until: AbortSignal): AsyncGenerator<SkeinMessage, void> {
    const { session } = this.hostSession;
    assertUsable(this.isClosed, this.isBusy);
    this.isBusy = true;
    this.reading = 'all';
    // Without a working agent no result would follow.
    const isLate = ({ type }: FeedItem) => OUTER_TYPES.has(type) && session.pendingReports === 0;
    try {
      yield* this.reports(feedUntilSettled(session, until, true), isLate);
    } finally {
      this.reading = 'none';
      this.isBusy = false;
    }
  }

  /**
   * Yields the messages of runs, each with its result. Late items between two runs are kept for the next run. Returns
   * the result that is still open.
   */
  private async *reports(
    items: AsyncGenerator<FeedItem, void>,
    isLate: (item: FeedItem) => boolean,
  ): AsyncGenerator<SkeinMessage, RunResultBuilder | undefined> {
    const { session, facts } = this.hostSession;
    let result: RunResultBuilder | undefined;
    for await (const item of items) {
      const hasEnded = item.type === 'run.ended';
      if (result === undefined && isLate(item)) {
        this.keepLate(item);
        continue;
      }
      const messages = [...this.messagesOf(item)];
      if (result === undefined) {
        if (messages.length === 0 && !hasEnded) continue;
        yield initMessage(session, facts, randomUUID());
        yield* this.takeLate();
        result = new RunResultBuilder();
      }
      result.take(item);
      yield* messages;
      if (!hasEnded) continue;
      yield result.toMessage(session, item.stop, randomUUID(), this.wantsJson);
      result = undefined;
    }
    return result;
  }

  /** Yields the messages of a run up to its result. */
  private async *follow(
    items: AsyncGenerator<FeedItem, void>,
    result: RunResultBuilder,
    signal: AbortSignal,
  ): AsyncGenerator<SkeinMessage, void> {
    const { session } = this.hostSession;
    const interrupt = () => session.interrupt();
    this.reading = 'run';
    let next = items.next();
    // Only a started run can be interrupted, and its interruption is then journaled.
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    try {
      for (;;) {
        const { value: item, done } = await next;
        if (done) return;
        result.take(item);
        yield* this.messagesOf(item);
        yield* this.takeLate();
        if (item.type === 'run.ended') {
          if (!this.staysIdle) yield* this.closeAndRead(result);
          yield result.toMessage(session, item.stop, randomUUID(), this.wantsJson);
        }
        next = items.next();
      }
    } finally {
      signal.removeEventListener('abort', interrupt);
    }
  }

  interrupt(): void {
    this.hostSession.session.interrupt();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (!this.hostSession.session.isIdle) await this.interruptAndWait();
    await this.hostSession.close();
  }

  /** Names a session that was opened without a prompt after its first prompt. */
  private async setTitle(title: string): Promise<void> {
    if (!this.isUntitled || title === '') return;
    this.isUntitled = false;
    await this.hostSession.session.rename(title).catch(() => undefined);
  }

  private async endReading(): Promise<void> {
    this.reading = 'none';
    if (!this.hostSession.session.isIdle) await this.interruptAndWait();
    this.isBusy = false;
  }

  /** Closes a session that does not stay idle, and yields what happens meanwhile. */
  private async *closeAndRead(result: RunResultBuilder): AsyncGenerator<SkeinMessage, void> {
    await this.close();
    for (const item of this.lateItems.splice(0)) {
      result.take(item);
      yield* this.messagesOf(item);
    }
  }

  private *messagesOf(item: FeedItem): Generator<SkeinMessage> {
    for (const message of [toMessage(item, this.id), this.tasks.take(item)]) {
      if (message !== undefined) yield message;
    }
  }

  private async interruptAndWait(): Promise<void> {
    this.hostSession.session.interrupt();
    await untilIdle(this.hostSession.session);
  }

  /**
   * Keeps what happens outside of a run: for the result if the session ends with the run, else for the next run.
   */
  private keepLate(item: FeedItem): void {
    if (this.staysIdle && !LATE_TYPES.has(item.type)) return;
    this.lateItems.push(item);
    if (this.staysIdle && this.lateItems.length > MAX_LATE_ITEMS) this.lateItems.shift();
  }

  private *takeLate(): Generator<SkeinMessage> {
    for (const text of this.notices.splice(0)) yield noticeMessage(text, belongingOf(this.id));
    for (const item of this.lateItems.splice(0)) yield* this.messagesOf(item);
  }
}
