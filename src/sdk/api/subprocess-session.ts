/**
 * A session whose agent has a process of its own, as a program holds it: the same as a HostedSession, by
 * way of lines. The other end is src/cli/print/hosted-mode.ts, where a HostedSession does the work.
 */
import { LineTooLongError } from '../../host/process/bounded-lines.js';
import { type LineProcess, startLineProcess } from '../../host/process/line-process.js';
import { LostRun } from './crashed-run-result.js';
import { type InProcessOptions, type ProgramSession, refuseUse } from './in-process-session.js';
import { JsonLineChannel, LONGEST_LINE, SubprocessError } from './json-line-channel.js';
import { MessageQueue } from './message-queue.js';
import type { MessageUsage, SkeinMessage } from './messages/messages.js';
import type { Prompt } from './messages/prompt-blocks.js';
import { keyVariables, placeOf } from './query-environment.js';
import { checkOptions, type QueryOptions } from './query-options.js';
import { openedSession, openRequestOf, servedQuestions } from './subprocess-requests.js';

export interface SubprocessOptions extends Omit<InProcessOptions, 'watchdog'> {
  /** Program and arguments that start the command line. */
  readonly skein: readonly string[];
}

/** A process that was told to end, or a run to stop, has so long for it. */
const GRACE_MS = 30_000;

export class SubprocessSession implements ProgramSession {
  id = '';
  private readonly process: LineProcess;
  private readonly link: JsonLineChannel;
  private readonly isKept: boolean;
  private run: MessageQueue | undefined;
  private used: MessageUsage | undefined;
  /** Why there is no process any more. */
  private lost: string | undefined;
  private closing: Promise<void> | undefined;

  private constructor(options: QueryOptions, skein: readonly string[]) {
    const { env, cwd } = placeOf(options);
    this.isKept = options.sessionPersistence !== false;
    this.process = startLineProcess({
      command: [...skein, '__hosted'],
      cwd,
      env: { ...env, ...keyVariables(options) },
      longestLine: LONGEST_LINE,
      graceMs: GRACE_MS,
    });
    this.link = new JsonLineChannel({
      write: (line) => this.process.send(line),
      serve: servedQuestions(options),
      heed: (message) => this.run?.push(message as SkeinMessage),
    });
    void this.listen();
  }

  /** Rejects with a UsageError for what cannot be used; then nothing is left open. */
  static async open(options: QueryOptions, hosted: SubprocessOptions): Promise<ProgramSession> {
    checkOptions(options);
    const { skein, title, lingers } = hosted;
    const request = openRequestOf(options, title, lingers);
    const session = new SubprocessSession(options, skein);
    try {
      session.id = openedSession(await session.link.request(request));
      session.process.letGo();
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  async *answer(
    prompt: Prompt | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<SkeinMessage, void> {
    refuseUse(this.closing !== undefined, this.run !== undefined);
    const queue = new MessageQueue();
    const told = new LostRun(this.used);
    const leaving = new AbortController();
    let hasResult = false;
    this.run = queue;
    this.process.hold();
    const request = { subtype: 'run', ...(prompt !== undefined && { prompt }) };
    const ended = this.link.request(request, AbortSignal.any([signal, leaving.signal])).then(
      () => queue.end(),
      (error: unknown) => queue.end({ error }),
    );
    try {
      for await (const message of queue) {
        told.take(message);
        if (message.type === 'result') {
          hasResult = true;
          this.used = message.usage;
        }
        yield message;
      }
    } catch (error) {
      if (this.lost === undefined) throw error;
      // A process that ends after the result took nothing of this run along.
      if (!hasResult) yield told.result(this.id, this.farewell(this.lost));
    } finally {
      leaving.abort();
      await this.within(ended);
      this.run = undefined;
      this.process.letGo();
    }
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  /** A process that nobody speaks to any more interrupts its run, gives the session back and ends. */
  private async end(): Promise<void> {
    this.process.hold();
    await this.process.dismiss();
  }

  /** A process that does not stop a run in time is ended, and then the run has ended too. */
  private async within(ended: Promise<void>): Promise<void> {
    const timer = setTimeout(() => this.process.kill(), GRACE_MS);
    await ended;
    clearTimeout(timer);
  }

  private async listen(): Promise<void> {
    let trouble: string | undefined;
    try {
      for await (const line of this.process.lines) this.link.take(line);
    } catch (error) {
      trouble = `${troubleOf(error)} and was ended`;
      this.process.kill();
    }
    const how = await this.process.ended;
    this.lost = trouble ?? how;
    this.link.close(new SubprocessError(`The process of the agent ${this.lost}.`));
  }

  private farewell(why: string): string {
    const next = this.isKept
      ? `resume session ${this.id} to go on`
      : 'nothing of its session was kept';
    return `The process of the agent ${why}; ${next}.`;
  }
}

const troubleOf = (error: unknown): string => {
  if (error instanceof LineTooLongError) return 'printed a line that does not end';
  return error instanceof SubprocessError ? error.message : 'could not be listened to';
};
