/**
 * Hosted mode (`skein __hosted`): runs the session of a program in its own process. The program
 * is at the other end of stdin and stdout (src/sdk/api/subprocess-session.ts). This process ends
 * when stdin closes.
 */
import { boundedLines } from '../../host/process/bounded-lines.js';
import { UsageError } from '../../protocol/skein-error.js';
import { InProcessSession } from '../../sdk/api/in-process-session.js';
import {
  type ChannelRequest,
  JsonLineChannel,
  MAX_CHANNEL_LINE,
  SubprocessError,
} from '../../sdk/api/json-line-channel.js';
import type { SkeinMessage } from '../../sdk/api/messages/skein-message.js';
import { openResponse, readOpenRequest, readRunRequest } from '../../sdk/api/open-request.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { ExitCode } from '../session/exit-code.js';
import { BatchedOutput } from './batched-output.js';

/** Time that running requests have to end after the program is gone, in milliseconds. */
const SHUTDOWN_LIMIT_MS = 20_000;

export const hostedMode = async (host: TerminalHost): Promise<number> => {
  const lines = new BatchedOutput(host.out);
  const server = new RequestServer(host, lines);
  const channel = new JsonLineChannel({
    write: lines.add,
    serve: (request, signal) => server.serve(request, signal, channel),
    receive: () => undefined,
  });
  const { stdin } = host;
  // A signal ends the process, because the program interrupts runs by lines.
  const stopListening = host.onInterrupt(() => stdin.destroy());
  try {
    for await (const line of boundedLines(stdin, MAX_CHANNEL_LINE)) channel.take(line);
  } catch {
    // A read error is treated like the end of stdin.
  }
  setTimeout(() => host.quit(ExitCode.interrupted), SHUTDOWN_LIMIT_MS).unref();
  channel.close(new SubprocessError('The calling program has ended.'));
  await server.close();
  stopListening();
  stdin.destroy();
  lines.flush();
  return ExitCode.done;
};

/** Opens the session of the program and serves its requests. */
class RequestServer {
  private readonly host: TerminalHost;
  private readonly lines: BatchedOutput;
  private readonly pending = new Set<Promise<unknown>>();
  private session: InProcessSession | undefined;

  constructor(host: TerminalHost, lines: BatchedOutput) {
    this.host = host;
    this.lines = lines;
  }

  serve(request: ChannelRequest, signal: AbortSignal, channel: JsonLineChannel): Promise<unknown> {
    const response =
      request.subtype === 'open' ? this.open(request, channel) : this.run(request, signal);
    this.pending.add(response);
    const forget = () => this.pending.delete(response);
    response.then(forget, forget);
    return response;
  }

  /** Interrupts the session, waits for all pending requests, then closes the session. */
  async close(): Promise<void> {
    this.session?.interrupt();
    await Promise.allSettled(this.pending);
    await this.session?.close();
  }

  private async open(request: ChannelRequest, channel: JsonLineChannel): Promise<unknown> {
    const { watchdog, env } = this.host;
    const { options, ...rest } = readOpenRequest(request, channel, env);
    this.session = await InProcessSession.open(options, { ...rest, watchdog });
    return openResponse(this.session.id);
  }

  private async run(request: ChannelRequest, signal: AbortSignal): Promise<unknown> {
    const { session } = this;
    const messages = session && messagesFor(session, request, signal);
    if (messages === undefined) throw new UsageError(`"${request.subtype}" is not supported here.`);
    for await (const message of messages) this.lines.add(JSON.stringify(message));
    return {};
  }
}

/** Returns undefined for an unknown request. */
const messagesFor = (
  session: InProcessSession,
  request: ChannelRequest,
  signal: AbortSignal,
): AsyncIterable<SkeinMessage> | readonly SkeinMessage[] | undefined => {
  switch (request.subtype) {
    case 'run':
      return session.answer(readRunRequest(request), signal);
    case 'settle':
      return session.settle(signal);
    case 'watch':
      return session.watch(signal);
    case 'interrupt':
      session.interrupt();
      return [];
    default:
      return undefined;
  }
};
