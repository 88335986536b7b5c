/**
 * `skein __hosted`: the agent of a program that wants it in a process of its own. The program is at the
 * other end of stdin and stdout (src/sdk/api/subprocess-session.ts); when it is gone, this ends.
 */
import { boundedLines } from '../../host/process/bounded-lines.js';
import { UsageError } from '../../protocol/errors.js';
import { InProcessSession } from '../../sdk/api/in-process-session.js';
import {
  type AskedRequest,
  JsonLineChannel,
  LONGEST_LINE,
  SubprocessError,
} from '../../sdk/api/json-line-channel.js';
import { openedAnswer, openedFrom, promptFrom } from '../../sdk/api/subprocess-requests.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { EXIT } from '../run/exit-code.js';
import { GatheredLines } from './batched-output.js';

/** Whatever still runs when nobody is there any more has so long to end. */
const LAST_MS = 20_000;

export const hostedMode = async (machine: TerminalHost): Promise<number> => {
  const lines = new GatheredLines(machine.out);
  const guest = new Guest(machine, lines);
  const link = new JsonLineChannel({
    write: lines.add,
    serve: (request, signal) => guest.serve(request, signal, link),
    heed: () => undefined,
  });
  const { stdin } = machine;
  // A signal means that the process is to end; runs are interrupted by lines.
  const stopListening = machine.onInterrupt(() => stdin.destroy());
  try {
    for await (const line of boundedLines(stdin, LONGEST_LINE)) link.take(line);
  } catch {
    // A program that cannot be understood, or heard, is as good as gone.
  }
  setTimeout(() => machine.quit(EXIT.interrupted), LAST_MS).unref();
  link.close(new SubprocessError('The program that asked is gone.'));
  await guest.leave();
  stopListening();
  stdin.destroy();
  lines.flush();
  return EXIT.done;
};

/** The session in this process, and what is being done for the program. */
class Guest {
  private readonly machine: TerminalHost;
  private readonly lines: GatheredLines;
  private readonly works = new Set<Promise<unknown>>();
  private session: InProcessSession | undefined;

  constructor(machine: TerminalHost, lines: GatheredLines) {
    this.machine = machine;
    this.lines = lines;
  }

  serve(request: AskedRequest, signal: AbortSignal, link: JsonLineChannel): Promise<unknown> {
    const work = request.subtype === 'open' ? this.open(request, link) : this.run(request, signal);
    this.works.add(work);
    const forget = () => this.works.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** When all that was begun has ended. */
  async leave(): Promise<void> {
    await Promise.allSettled(this.works);
    await this.session?.close();
  }

  private async open(request: AskedRequest, link: JsonLineChannel): Promise<unknown> {
    const { watchdog, env } = this.machine;
    const { options, ...terms } = openedFrom(request, link, env);
    this.session = await InProcessSession.open(options, { ...terms, watchdog });
    return openedAnswer(this.session.id);
  }

  private async run(request: AskedRequest, signal: AbortSignal): Promise<unknown> {
    if (request.subtype !== 'run' || this.session === undefined) {
      throw new UsageError(`"${request.subtype}" is not supported here.`);
    }
    const messages = this.session.answer(promptFrom(request), signal);
    for await (const message of messages) this.lines.add(JSON.stringify(message));
    return {};
  }
}
