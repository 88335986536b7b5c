/**
 * Session of a program whose agent runs in another process. The other end of the channel is
 * src/cli/print/hosted-mode.ts, where an InProcessSession does the work.
 */
import { LineTooLongError } from '../../host/process/bounded-lines.js';
import { type LineProcess, startLineProcess } from '../../host/process/line-process.js';
import { CrashedRunResult } from './crashed-run-result.js';
import { assertUsable, type InProcessOptions, type ProgramSession } from './in-process-session.js';
import {
  type ChannelRequest,
  JsonLineChannel,
  MAX_CHANNEL_LINE,
  SubprocessError,
} from './json-line-channel.js';
import { MessageQueue } from './message-queue.js';
import type { Prompt } from './messages/prompt-content.js';
import type { MessageUsage, SkeinMessage } from './messages/skein-message.js';
import { openRequest, readOpenResponse } from './open-request.js';
import { keyVariables, queryEnvironment } from './query-environment.js';
import { checkOptions, type QueryOptions } from './query-options.js';
import { serveCallbacks } from './remote-callbacks.js';

interface SubprocessOptions extends Omit<InProcessOptions, 'watchdog'> {
  /** Program and arguments that start the command line of Skein. */
  readonly skein: readonly string[];
}

/** Time in ms that the process has to end, or to stop a run, before it is killed. */
const GRACE_MS = 30_000;

export class SubprocessSession implements ProgramSession {
  id = '';
  private readonly process: LineProcess;
  private readonly channel: JsonLineChannel;
  private readonly isPersisted: boolean;
  private run: MessageQueue | undefined;
  private usageSoFar: MessageUsage | undefined;
  /** How the process ended. Undefined while it runs. */
  private processEnd: string | undefined;
  private closing: Promise<void> | undefined;

  private constructor(options: QueryOptions, skein: readonly string[]) {
    const { env, cwd } = queryEnvironment(options);
    this.isPersisted = options.sessionPersistence !== false;
    this.process = startLineProcess({
      command: [...skein, '__hosted'],
      cwd,
      env: { ...env, ...keyVariables(options) },
      maxLineBytes: MAX_CHANNEL_LINE,
      graceMs: GRACE_MS,
    });
    this.channel = new JsonLineChannel({
      write: (line) => this.process.send(line),
      serve: serveCallbacks(options),
      receive: (message) => this.run?.push(message as SkeinMessage),
    });
    void this.listen();
  }

  /** Rejects with UsageError if the options cannot be used; then the process is ended. */
  static async open(options: QueryOptions, hosted: SubprocessOptions): Promise<ProgramSession> {
    checkOptions(options);
    const { skein, title, staysIdle } = hosted;
    const request = openRequest(options, title, staysIdle);
    const session = new SubprocessSession(options, skein);
    try {
      session.id = readOpenResponse(await session.channel.request(request));
      session.process.unref();
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  answer(prompt: Prompt | undefined, signal: AbortSignal): AsyncGenerator<SkeinMessage, void> {
    return this.read({ subtype: 'run', ...(prompt !== undefined && { prompt }) }, signal);
  }

  settle(signal: AbortSignal): AsyncGenerator<SkeinMessage, void> {
    return this.read({ subtype: 'settle' }, signal);
  }

  watch(until: AbortSignal): AsyncGenerator<SkeinMessage, void> {
    return this.read({ subtype: 'watch' }, until);
  }

  interrupt(): void {
    this.channel.request({ subtype: 'interrupt' }).catch(() => undefined);
  }

  /** Sends the request and yields the messages up to its response. */
  private async *read(
    request: ChannelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<SkeinMessage, void> {
    assertUsable(this.closing !== undefined, this.run !== undefined);
    const queue = new MessageQueue();
    const crashed = new CrashedRunResult(this.usageSoFar);
    const leaving = new AbortController();
    let hasResult = false;
    this.run = queue;
    this.process.ref();
    const ended = this.channel.request(request, AbortSignal.any([signal, leaving.signal])).then(
      () => queue.end(),
      (error: unknown) => queue.end({ error }),
    );
    try {
      for await (const message of queue) {
        crashed.take(message);
        if (message.type === 'result') {
          hasResult = true;
          this.usageSoFar = message.usage;
        }
        yield message;
      }
    } catch (error) {
      if (this.processEnd === undefined) throw error;
      // If the process ends after the result, the run is complete.
      if (!hasResult) yield crashed.toMessage(this.id, this.lostText(this.processEnd));
    } finally {
      leaving.abort();
      await this.waitOrKill(ended);
      this.run = undefined;
      this.process.unref();
    }
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  /** Closes the channel, on which the process interrupts its run, closes the session and ends. */
  private async end(): Promise<void> {
    this.process.ref();
    await this.process.close();
  }

  /** Kills the process if the run does not stop in time, which ends the run too. */
  private async waitOrKill(ended: Promise<void>): Promise<void> {
    const timer = setTimeout(() => this.process.kill(), GRACE_MS);
    await ended;
    clearTimeout(timer);
  }

  private async listen(): Promise<void> {
    let problem: string | undefined;
    try {
      for await (const line of this.process.lines) this.channel.take(line);
    } catch (error) {
      problem = `${problemOf(error)} and was ended`;
      this.process.kill();
    }
    const processEnd = await this.process.ended;
    this.processEnd = problem ?? processEnd;
    this.channel.close(new SubprocessError(`The agent's process ${this.processEnd}.`));
  }

  private lostText(why: string): string {
    const next = this.isPersisted
      ? `resume session ${this.id} to continue`
      : 'its session was not saved';
    return `The agent's process ${why}; ${next}.`;
  }
}

const problemOf = (error: unknown): string => {
  if (error instanceof LineTooLongError) return 'printed a line that does not end';
  return error instanceof SubprocessError ? error.message : 'could not be read';
};
