/** `skein -p`: one run (or a line-driven series of them), printed in one of three formats. */
import { randomUUID } from 'node:crypto';
import { type LeadSession, openSession } from '../actors/session.js';
import { sweepOrphans } from '../host/orphans.js';
import type { Stop } from '../protocol/agent.js';
import { UsageError } from '../protocol/errors.js';
import type { FeedItem } from '../protocol/feed.js';
import type { RawJson } from '../protocol/wire.js';
import type { Provider } from '../sdk/provider.js';
import { lastAnswer, RunTally } from '../sdk/run-tally.js';
import { feedLine, initLine } from '../sdk/stream-json.js';
import { VERSION } from '../sdk/version.js';
import { setUpWorkbench } from '../sdk/workbench.js';
import { ControlLines } from './control-lines.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import type { Machine } from './machine.js';
import { promptBlocks, readPrompt } from './prompt-text.js';
import type { RunFlags } from './run-flags.js';

export const printMode = async (
  given: string | undefined,
  flags: RunFlags,
  machine: Machine,
  provider?: Provider,
): Promise<number> => {
  const isDriven = flags.inputFormat === 'stream-json';
  checkFormats(flags);
  const line = (text: string) => machine.out(`${text}\n`);
  const control = isDriven ? new ControlLines(line) : undefined;
  const isResumed = flags.resume !== undefined || flags.continue === true;
  const prompt = isDriven ? given : await readPromptOrNone(given, machine, isResumed);
  const { settings, notices, toolNames, options } = await setUpWorkbench({
    ...{ machine, flags, surface: control, lingers: isDriven },
    title: titleOf(prompt ?? ''),
    wantsStreamEvents: flags.includePartialMessages === true,
    ...(provider && { provider }),
  });
  const session = await openSession(options);
  for (const notice of [...notices, ...session.damage]) machine.err(`skein: ${notice}\n`);
  const said = prompt === undefined ? lastAnswer(session) : '';
  const printer = new Printer(session, flags, machine, line, said);
  // A driver interrupts by a line; a signal means that the process is to end.
  const dismissal = new AbortController();
  const stopListening = machine.onInterrupt(() => {
    session.interrupt();
    if (isDriven) dismissal.abort();
  });
  if (flags.outputFormat === 'stream-json') {
    const facts = { tools: toolNames, permissionMode: settings.mode.value, version: VERSION };
    line(initLine(session, facts, randomUUID()));
  }
  session.listen((item) => printer.take(item));
  try {
    if (prompt !== undefined) session.submit(promptBlocks(prompt));
    session.start();
    if (control !== undefined) await drive(session, control, machine, dismissal.signal);
    else await session.stopped;
  } finally {
    stopListening();
    await closeQuietly(session);
  }
  if (dismissal.signal.aborted) return EXIT.interrupted;
  return printer.lastStop === undefined ? EXIT.done : exitCodeOf(printer.lastStop.reason);
};

const checkFormats = ({ inputFormat, outputFormat, includePartialMessages }: RunFlags): void => {
  if (inputFormat === 'stream-json' && outputFormat !== 'stream-json') {
    throw new UsageError('--input-format stream-json needs --output-format stream-json.');
  }
  if (includePartialMessages && outputFormat !== 'stream-json') {
    throw new UsageError('--include-partial-messages needs --output-format stream-json.');
  }
};

/** A resumed session may simply go on with what it was doing. */
const readPromptOrNone = async (
  given: string | undefined,
  machine: Machine,
  isResumed: boolean,
): Promise<string | undefined> => {
  try {
    return await readPrompt(given, machine);
  } catch (error) {
    if (isResumed && error instanceof UsageError) return undefined;
    throw error;
  }
};

const titleOf = (prompt: string): string => prompt.replaceAll(/\s+/g, ' ').slice(0, 80);

/** Until the other side has said its last prompt and the agent has answered it. */
const drive = async (
  session: LeadSession,
  control: ControlLines,
  machine: Machine,
  dismissal: AbortSignal,
): Promise<void> => {
  const handlers = {
    prompt: (blocks: RawJson) => session.submit(blocks),
    interrupt: () => session.interrupt(),
    complain: (sentence: string) => machine.err(`skein: ${sentence}\n`),
  };
  const reading = control.read(machine.stdin, handlers, dismissal);
  const isOver = session.stopped.then(() => true);
  const isResting = reading.then(() => untilResting(session));
  await Promise.race([isOver, isResting]);
  // Nobody listens any more; an open pipe would keep the process alive.
  machine.stdin.destroy();
};

const untilResting = (session: LeadSession): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (!session.isResting) return;
      stop();
      resolve();
    };
    const stop = session.listen(({ type }) => {
      if (type === 'run.ended') look();
    });
    look();
  });

const closeQuietly = async (session: LeadSession): Promise<void> => {
  // A disk that failed has been reported as the reason of the stop.
  await session.close().catch(() => undefined);
};

class Printer {
  lastStop: Stop | undefined;
  private tally: RunTally;
  private swept = false;
  private readonly session: LeadSession;
  private readonly flags: RunFlags;
  private readonly machine: Machine;
  private readonly line: (text: string) => void;

  constructor(
    session: LeadSession,
    flags: RunFlags,
    machine: Machine,
    line: (text: string) => void,
    said: string,
  ) {
    this.session = session;
    this.tally = new RunTally(said);
    this.flags = flags;
    this.machine = machine;
    this.line = line;
  }

  take(item: FeedItem): void {
    this.tally.take(item);
    if (this.flags.outputFormat === 'stream-json') {
      const text = feedLine(item, this.session.id);
      if (text !== undefined) this.line(text);
    }
    if (item.type === 'notice') this.machine.err(`skein: ${item.text}\n`);
    if (item.type === 'request.started') this.sweepOnce();
    if (item.type === 'run.ended') this.finish(item.stop);
  }

  /** Children of owners that died are ended at every start, once the first request is on its way. */
  private sweepOnce(): void {
    if (this.swept) return;
    this.swept = true;
    void sweepOrphans().catch(() => undefined);
  }

  private finish(stop: Stop): void {
    this.lastStop = stop;
    const { outputFormat } = this.flags;
    if (outputFormat === 'text') this.printText(stop);
    else {
      const result = this.tally.result(this.session, stop, randomUUID());
      const structured =
        this.flags.jsonSchema === undefined ? {} : structuredOutput(this.tally.text);
      this.line(JSON.stringify({ ...result, ...structured }));
    }
    this.tally = new RunTally();
  }

  private printText(stop: Stop): void {
    if (this.tally.text !== '') this.machine.out(`${this.tally.text}\n`);
    for (const { tool, reason } of this.tally.denials) {
      this.machine.err(`skein: ${tool} was not run: ${reason}\n`);
    }
    if (stop.reason !== 'end_turn') {
      const detail = stop.detail === null ? '' : `: ${stop.detail}`;
      this.machine.err(`skein: stopped (${stop.reason})${detail}\n`);
    }
  }
}

/** With --json-schema the answer is JSON; one that is not is left as text. */
const structuredOutput = (text: string): { structured_output?: unknown } => {
  try {
    return { structured_output: JSON.parse(text) };
  } catch {
    return {};
  }
};
