/** `skein -p`: one run (or a line-driven series of them), printed in one of three formats. */
import { randomUUID } from 'node:crypto';
import type { LeadSession } from '../../actors/session/session.js';
import { lastAnswer } from '../../context/history/last-answer.js';
import type { Stop } from '../../protocol/agent/agent.js';
import { UsageError } from '../../protocol/errors.js';
import type { RawJson } from '../../protocol/model/wire.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { promptBlocks, titleOf } from '../../sdk/api/messages/prompt-blocks.js';
import { RunResultBuilder } from '../../sdk/api/messages/run-result.js';
import { feedLine, initMessage } from '../../sdk/api/messages/stream-json.js';
import { TaskMessages } from '../../sdk/api/messages/task-messages.js';
import { untilResting } from '../../sdk/api/resting.js';
import type { Provider } from '../../sdk/assembly/options/provider.js';
import { type SwarmLine, SwarmLines, waitingText } from '../../terminal/output/swarm-lines.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { sanitize } from '../../terminal/text/sanitize.js';
import { EXIT, exitCodeOf } from '../run/exit-code.js';
import { openShownRun } from '../run/open-session.js';
import type { RunFlags } from '../run/run-flags.js';
import { GatheredLines } from './batched-output.js';
import { ControlLines } from './control-protocol.js';
import { readPrompt } from './read-prompt.js';

export const printMode = async (
  given: string | undefined,
  flags: RunFlags,
  machine: TerminalHost,
  provider?: Provider,
): Promise<number> => {
  const isDriven = flags.inputFormat === 'stream-json';
  checkFormats(flags);
  const lines = new GatheredLines(machine.out);
  const control = isDriven ? new ControlLines(lines.add) : undefined;
  const isResumed = flags.resume !== undefined || flags.continue === true;
  const prompt = isDriven ? given : await readPromptOrNone(given, machine, isResumed);
  const run = await openShownRun({
    machine,
    flags,
    surfaces: control === undefined ? {} : { 'stream-json': control },
    lingers: isDriven,
    title: titleOf(prompt ?? ''),
    wantsStreamEvents: flags.includePartialMessages === true,
    ...(provider && { provider }),
  });
  const { session } = run;
  run.notices.forEach(machine.notify);
  const said = prompt === undefined ? lastAnswer(session.notebook.history.messages) : '';
  const printer = new Printer(session, flags, machine, lines.add, said);
  // A driver interrupts by a line; a signal means that the process is to end.
  const dismissal = new AbortController();
  const stopListening = machine.onInterrupt(() => {
    session.interrupt();
    if (isDriven) dismissal.abort();
  });
  if (flags.outputFormat === 'stream-json') {
    lines.add(JSON.stringify(initMessage(session, run.facts, randomUUID())));
  }
  session.listen((item) => printer.take(item));
  /** How the session ended by itself; a driven one goes on until its driver ends it. */
  let end: Stop | undefined;
  void session.stopped.then(({ stop }) => {
    end = stop;
  });
  let lastStop: Stop | undefined;
  try {
    if (prompt !== undefined) session.submit(promptBlocks(prompt));
    session.start();
    if (control !== undefined) await drive(session, control, machine, dismissal.signal);
    else await session.stopped;
    lastStop = end ?? printer.lastStop;
  } finally {
    stopListening();
    await run.close();
    lines.flush();
  }
  if (dismissal.signal.aborted) return EXIT.interrupted;
  return lastStop === undefined ? EXIT.done : exitCodeOf(lastStop.reason);
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
  machine: TerminalHost,
  isResumed: boolean,
): Promise<string | undefined> => {
  try {
    return await readPrompt(given, machine);
  } catch (error) {
    if (isResumed && error instanceof UsageError) return undefined;
    throw error;
  }
};

/** Until the other side has said its last prompt and the agent has answered it. */
const drive = async (
  session: LeadSession,
  control: ControlLines,
  machine: TerminalHost,
  dismissal: AbortSignal,
): Promise<void> => {
  const handlers = {
    prompt: (blocks: RawJson) => session.submit(blocks),
    interrupt: () => session.interrupt(),
    complain: machine.notify,
  };
  const reading = control.read(machine.stdin, handlers, dismissal);
  const isOver = session.stopped.then(() => true);
  const isResting = reading.then(() => untilResting(session));
  await Promise.race([isOver, isResting]);
  // Nobody listens any more; an open pipe would keep the process alive.
  machine.stdin.destroy();
};

const MOST_DENIALS = 20;

class Printer {
  lastStop: Stop | undefined;
  private tally: RunResultBuilder;
  private readonly session: LeadSession;
  private readonly tasks: TaskMessages;
  private readonly swarm: SwarmLines;
  private readonly flags: RunFlags;
  private readonly machine: TerminalHost;
  private readonly line: (text: string) => void;

  constructor(
    session: LeadSession,
    flags: RunFlags,
    machine: TerminalHost,
    line: (text: string) => void,
    said: string,
  ) {
    this.session = session;
    this.tally = new RunResultBuilder(said);
    this.tasks = new TaskMessages(session.id);
    const show = ({ text }: SwarmLine) => machine.notify(text.trimStart());
    this.swarm = new SwarmLines({ show, isVerbose: flags.verbose === true });
    this.flags = flags;
    this.machine = machine;
    this.line = line;
  }

  take(item: FeedItem): void {
    const { outputFormat } = this.flags;
    this.tally.take(item);
    if (outputFormat === 'stream-json') {
      const text = feedLine(item, this.session.id);
      if (text !== undefined) this.line(text);
      const task = this.tasks.take(item);
      if (task !== undefined) this.line(JSON.stringify(task));
    }
    if (item.type === 'notice') this.machine.notify(item.text);
    if (outputFormat === 'text') this.tellOfAgents(item);
    if (item.type === 'run.ended') this.finish(item.stop);
  }

  /** On stderr: who works for the lead, and that it waits for those that nobody asked to be waited for. */
  private tellOfAgents(item: FeedItem): void {
    this.swarm.take(item);
    const isAnswer = item.type === 'assistant.message' && item.stopReason === 'end_turn';
    if (!isAnswer && item.type !== 'run.ended') return;
    this.swarm.flush();
    const waiting = this.swarm.background();
    if (isAnswer && waiting.length > 0) this.machine.notify(waitingText(waiting));
  }

  private finish(stop: Stop): void {
    this.lastStop = stop;
    const { outputFormat } = this.flags;
    if (outputFormat === 'text') this.printText(stop);
    else {
      const wantsJson = this.flags.jsonSchema !== undefined;
      this.line(JSON.stringify(this.tally.result(this.session, stop, randomUUID(), wantsJson)));
    }
    this.tally = new RunResultBuilder();
  }

  private printText(stop: Stop): void {
    const { text } = this.tally;
    // A program gets it as it is; a terminal would obey it.
    const shown = this.machine.stdout.isTTY === true ? sanitize(text) : text;
    if (text !== '') this.machine.out(`${shown}\n`);
    this.denialLines().forEach(this.machine.notify);
    if (stop.reason !== 'end_turn') {
      const detail = stop.detail === null ? '' : `: ${stop.detail}`;
      this.machine.notify(`stopped (${stop.reason})${detail}`);
    }
    const { overshoot } = this.session.grant;
    const { usd, tokens } = overshoot;
    if (usd > 0) this.machine.notify(`The run cost $${usd.toFixed(4)} more than its budget.`);
    if (tokens > 0) {
      const many = tokens.toLocaleString('en');
      this.machine.notify(`The run used ${many} tokens more than its budget.`);
    }
  }

  /** What many agents were denied alike is said once. */
  private denialLines(): readonly string[] {
    const times = new Map<string, number>();
    for (const { tool, reason, agent } of this.tally.denials) {
      const who = agent === undefined ? '' : ` for ${agent.type ?? 'a fork'}`;
      const line = `${tool} was not run${who}: ${reason}`;
      times.set(line, (times.get(line) ?? 0) + 1);
    }
    const lines = [...times].map(([line, many]) => (many === 1 ? line : `${line} (${many} times)`));
    const more = lines.length - MOST_DENIALS;
    return more <= 0
      ? lines
      : [...lines.slice(0, MOST_DENIALS), `${more} more denials; skein logs shows them.`];
  }
}
