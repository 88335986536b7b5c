/** A session as a program holds it: prompts go in one at a time, messages come out. */
import { randomUUID } from 'node:crypto';
import { lastAnswer } from '../../context/history/last-answer.js';
import { UsageError } from '../../protocol/errors.js';
import { type HostSession, openHostSession } from '../assembly/open-host-session.js';
import { callbackSurface } from './callback-surface.js';
import type { SkeinMessage } from './messages/messages.js';
import type { Prompt } from './messages/prompt-blocks.js';
import { RunResultBuilder } from './messages/run-result.js';
import { initMessage } from './messages/stream-json.js';
import { TaskMessages } from './messages/task-messages.js';
import { noticeMessage, toMessage } from './messages/to-message.js';
import { placeOf, providerFrom, runOptionsOf } from './query-environment.js';
import { checkOptions, type QueryOptions } from './query-options.js';
import { untilResting } from './resting.js';

export interface InProcessOptions {
  /** Program and arguments that start the watchdog. */
  readonly watchdog: readonly string[];
  readonly title: string;
  /** Rests between prompts instead of stopping. */
  readonly lingers: boolean;
}

/** A session as `query` and `openSession` hold it, wherever its agent runs. */
export interface ProgramSession {
  readonly id: string;
  /**
   * One run, from its first message to its result. Whoever stops reading interrupts it. When
   * `signal` has aborted, or does, it ends as interrupted.
   */
  answer(prompt: Prompt | undefined, signal: AbortSignal): AsyncGenerator<SkeinMessage, void>;
  close(): Promise<void>;
}

/** Throws a UsageError for a session that cannot be asked now. */
export const refuseUse = (isClosed: boolean, isBusy: boolean): void => {
  if (isClosed) throw new UsageError('The session is closed; open it again to go on.');
  if (isBusy) throw new UsageError('The session answers one prompt at a time; wait for it.');
};

/** A session may rest for days, and its store come and go meanwhile. */
const MOST_KEPT = 100;

export class InProcessSession implements ProgramSession {
  readonly id: string;
  private readonly run: HostSession;
  private readonly tasks: TaskMessages;
  private readonly wantsJson: boolean;
  /** Sentences for people that no message has carried yet. */
  private readonly notices: string[];
  /** A run is being read: what the session says goes there. */
  private isFollowed = false;
  private isBusy = false;
  private isClosed = false;
  private isUnnamed: boolean;

  private constructor(run: HostSession, wantsJson: boolean, notices: string[]) {
    this.id = run.session.id;
    this.run = run;
    this.tasks = new TaskMessages(this.id);
    this.isUnnamed = run.session.meta.title === '';
    this.wantsJson = wantsJson;
    this.notices = notices;
    run.session.listen((item) => {
      if (item.type === 'run.ended') this.isFollowed = false;
      else if (item.type === 'notice' && !this.isFollowed) this.keep(item.text);
    });
  }

  /** Rejects with a UsageError for what cannot be used; then nothing is left open. */
  static async open(options: QueryOptions, hosted: InProcessOptions): Promise<InProcessSession> {
    checkOptions(options);
    const { watchdog, title, lingers } = hosted;
    const notices: string[] = [];
    const notify = (sentence: string) => notices.push(sentence);
    const provider = providerFrom(options);
    const run = await openHostSession({
      machine: { ...placeOf(options), watchdog, notify },
      flags: runOptionsOf(options),
      surfaces: callbackSurface(options),
      hooks: options.hooks,
      title: options.title ?? title,
      lingers,
      entrypoint: 'sdk',
      wantsStreamEvents: options.includePartialMessages ?? false,
      ...(options.tools !== undefined && { tools: options.tools }),
      ...(provider !== undefined && { provider }),
    });
    notices.push(...run.notices);
    return new InProcessSession(run, options.jsonSchema !== undefined, notices);
  }

  async *answer(
    prompt: Prompt | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<SkeinMessage, void> {
    const { session, facts } = this.run;
    refuseUse(this.isClosed, this.isBusy);
    this.isBusy = true;
    const interrupt = () => session.interrupt();
    try {
      yield initMessage(session, facts, randomUUID());
      yield* this.takeNotices();
      const { blocks, title = '' } = prompt ?? {};
      await this.nameAfter(title);
      const tally = new RunResultBuilder(
        blocks === undefined ? lastAnswer(session.notebook.history.messages) : '',
      );
      const items = session.run(blocks);
      this.isFollowed = true;
      let next = items.next();
      // Only what has started can be interrupted, and then it is written down like any other run.
      signal.addEventListener('abort', interrupt, { once: true });
      if (signal.aborted) interrupt();
      for (;;) {
        const { value: item, done } = await next;
        if (done) return;
        tally.take(item);
        for (const message of [toMessage(item, this.id), this.tasks.take(item)]) {
          if (message !== undefined) yield message;
        }
        yield* this.takeNotices();
        if (item.type === 'run.ended') {
          yield tally.result(session, item.stop, randomUUID(), this.wantsJson);
        }
        next = items.next();
      }
    } finally {
      this.isFollowed = false;
      signal.removeEventListener('abort', interrupt);
      if (!session.isResting) await this.settle();
      this.isBusy = false;
    }
  }

  interrupt(): void {
    this.run.session.interrupt();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (!this.run.session.isResting) await this.settle();
    await this.run.close();
  }

  /** A session that was opened without a prompt is called after its first one. */
  private async nameAfter(title: string): Promise<void> {
    if (!this.isUnnamed || title === '') return;
    this.isUnnamed = false;
    await this.run.session.rename(title).catch(() => undefined);
  }

  private async settle(): Promise<void> {
    this.run.session.interrupt();
    await untilResting(this.run.session);
  }

  /** What happens between two runs is told with the next one. */
  private keep(sentence: string): void {
    this.notices.push(sentence);
    if (this.notices.length > MOST_KEPT) this.notices.shift();
  }

  private *takeNotices(): Generator<SkeinMessage> {
    for (const text of this.notices.splice(0)) {
      yield noticeMessage(text, { parent_tool_use_id: null, session_id: this.id });
    }
  }
}
