/** Session of a program in its own process: takes one prompt at a time and yields messages. */
import { randomUUID } from 'node:crypto';
import { lastAnswer } from '../../context/history/last-answer.js';
import { UsageError } from '../../protocol/skein-error.js';
import { type HostSession, openHostSession } from '../assembly/open-host-session.js';
import { untilIdle } from '../control/until-idle.js';
import { callbackSurface } from './callback-surface.js';
import { initMessage } from './messages/init-message.js';
import type { Prompt } from './messages/prompt-content.js';
import { RunResultBuilder } from './messages/run-result-builder.js';
import type { SkeinMessage } from './messages/skein-message.js';
import { TaskMessages } from './messages/task-messages.js';
import { noticeMessage, toMessage } from './messages/to-message.js';
import { queryEnvironment, queryProvider, toRunOptions } from './query-environment.js';
import { checkOptions, type QueryOptions } from './query-options.js';

export interface InProcessOptions {
  /** Program and arguments that start the watchdog process. */
  readonly watchdog: readonly string[];
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
  close(): Promise<void>;
}

/** Throws UsageError if the session is closed or busy. */
export const assertUsable = (isClosed: boolean, isBusy: boolean): void => {
  if (isClosed) throw new UsageError('The session is closed; open it again to continue.');
  if (isBusy)
    throw new UsageError('The session answers one prompt at a time; wait for the result.');
};

/** Maximum notices between two runs. The oldest are dropped, because a session may be idle for days. */
const MAX_NOTICES = 100;

export class InProcessSession implements ProgramSession {
  readonly id: string;
  private readonly hostSession: HostSession;
  private readonly tasks: TaskMessages;
  private readonly wantsJson: boolean;
  /** Notices that no message has carried yet. */
  private readonly notices: string[];
  /** True while a run is read. Its notices are part of its messages. */
  private isReading = false;
  private isBusy = false;
  private isClosed = false;
  private isUntitled: boolean;

  private constructor(opened: HostSession, wantsJson: boolean, notices: string[]) {
    this.id = opened.session.id;
    this.hostSession = opened;
    this.tasks = new TaskMessages(this.id);
    this.isUntitled = opened.session.meta.title === '';
    this.wantsJson = wantsJson;
    this.notices = notices;
    opened.session.listen((item) => {
      if (item.type === 'run.ended') this.isReading = false;
      else if (item.type === 'notice' && !this.isReading) this.keepNotice(item.text);
    });
  }

  /** Rejects with UsageError if the options cannot be used; then everything is closed again. */
  static async open(options: QueryOptions, hosted: InProcessOptions): Promise<InProcessSession> {
    checkOptions(options);
    const { watchdog, title, staysIdle } = hosted;
    const notices: string[] = [];
    const notify = (sentence: string) => notices.push(sentence);
    const provider = queryProvider(options);
    const opened = await openHostSession({
      host: { ...queryEnvironment(options), watchdog, notify },
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
    return new InProcessSession(opened, options.jsonSchema !== undefined, notices);
  }

  async *answer(
    prompt: Prompt | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<SkeinMessage, void> {
    const { session, facts } = this.hostSession;
    assertUsable(this.isClosed, this.isBusy);
    this.isBusy = true;
    const interrupt = () => session.interrupt();
    try {
      yield initMessage(session, facts, randomUUID());
      yield* this.takeNotices();
      const { blocks, title = '' } = prompt ?? {};
      await this.setTitle(title);
      const result = new RunResultBuilder(
        blocks === undefined ? lastAnswer(session.journal.history.messages) : '',
      );
      const items = session.run(blocks);
      this.isReading = true;
      let next = items.next();
      // Only a started run can be interrupted, and its interruption is then journaled.
      signal.addEventListener('abort', interrupt, { once: true });
      if (signal.aborted) interrupt();
      for (;;) {
        const { value: item, done } = await next;
        if (done) return;
        result.take(item);
        for (const message of [toMessage(item, this.id), this.tasks.take(item)]) {
          if (message !== undefined) yield message;
        }
        yield* this.takeNotices();
        if (item.type === 'run.ended') {
          yield result.toMessage(session, item.stop, randomUUID(), this.wantsJson);
        }
        next = items.next();
      }
    } finally {
      this.isReading = false;
      signal.removeEventListener('abort', interrupt);
      if (!session.isIdle) await this.interruptAndWait();
      this.isBusy = false;
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

  private async interruptAndWait(): Promise<void> {
    this.hostSession.session.interrupt();
    await untilIdle(this.hostSession.session);
  }

  /** Keeps a notice between two runs for the next run. */
  private keepNotice(sentence: string): void {
    this.notices.push(sentence);
    if (this.notices.length > MAX_NOTICES) this.notices.shift();
  }

  private *takeNotices(): Generator<SkeinMessage> {
    for (const text of this.notices.splice(0)) {
      yield noticeMessage(text, { parent_tool_use_id: null, session_id: this.id });
    }
  }
}
