/** Print mode (`skein -p`): prints one run, or runs driven by stdin, in one of three formats. */
import { randomUUID } from 'node:crypto';
import type { LeadSession } from '../../actors/session/lead-session.js';
import { lastAnswer } from '../../context/history/last-answer.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { UsageError } from '../../protocol/skein-error.js';
import { initMessage } from '../../sdk/api/messages/init-message.js';
import { promptTitle, toWireBlocks } from '../../sdk/api/messages/prompt-content.js';
import { RunResultBuilder } from '../../sdk/api/messages/run-result-builder.js';
import { streamJsonLine } from '../../sdk/api/messages/stream-json-line.js';
import { TaskMessages } from '../../sdk/api/messages/task-messages.js';
import type { Provider } from '../../sdk/assembly/options/provider.js';
import { untilIdle } from '../../sdk/control/until-idle.js';
import { type SwarmLine, SwarmLines, waitingText } from '../../terminal/output/swarm-lines.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { sanitize } from '../../terminal/text/sanitize.js';
import { ExitCode, exitCodeFor } from '../session/exit-code.js';
import { openCliSession } from '../session/open-cli-session.js';
import type { RunFlags } from '../session/run-flags.js';
import { BatchedOutput } from './batched-output.js';
import { ControlProtocol } from './control-protocol.js';
import { readPrompt } from './read-prompt.js';

/** Resolves with the exit code. Rejects with UsageError. */
export const printMode = async (
  input: string | undefined,
  flags: RunFlags,
  host: TerminalHost,
  provider?: Provider,
): Promise<number> => {
  const isDriven = flags.inputFormat === 'stream-json';
  checkFormats(flags);
  const lines = new BatchedOutput(host.out);
  const control = isDriven ? new ControlProtocol(lines.add) : undefined;
  const isResumed = flags.resume !== undefined || flags.continue === true;
  const prompt = isDriven ? input : await readPromptOrNone(input, host, isResumed);
  const run = await openCliSession({
    host,
    flags,
    surfaces: control === undefined ? {} : { 'stream-json': control },
    staysIdle: isDriven,
    title: promptTitle(prompt ?? ''),
    wantsStreamEvents: flags.includePartialMessages === true,
    ...(provider && { provider }),
  });
  const { session } = run;
  run.notices.forEach(host.notify);
  const earlierAnswer = prompt === undefined ? lastAnswer(session.journal.history.messages) : '';
  const printer = new Printer(session, flags, host, lines.add, earlierAnswer);
  // With stream-json input a signal ends the process, because the driver interrupts runs by lines.
  const shutdown = new AbortController();
  const stopListening = host.onInterrupt(() => {
    session.interrupt();
    if (isDriven) shutdown.abort();
  });
  if (flags.outputFormat === 'stream-json') {
    lines.add(JSON.stringify(initMessage(session, run.facts, randomUUID())));
  }
  session.listen((item) => printer.take(item));
  /** Stop of the session, if it stopped before the driver closed stdin. */
  let end: Stop | undefined;
  void session.stopped.then(({ stop }) => {
    end = stop;
  });
  let lastStop: Stop | undefined;
  try {
    if (prompt !== undefined) session.submit(toWireBlocks(prompt));
    session.start();
    if (control !== undefined) await drive(session, control, host, shutdown.signal);
    else await session.stopped;
    lastStop = end ?? printer.lastStop;
  } finally {
    stopListening();
    await run.close();
    lines.flush();
  }
  if (shutdown.signal.aborted) return ExitCode.interrupted;
  return lastStop === undefined ? ExitCode.done : exitCodeFor(lastStop.reason);
};

const checkFormats = ({ inputFormat, outputFormat, includePartialMessages }: RunFlags): void => {
  if (inputFormat === 'stream-json' && outputFormat !== 'stream-json') {
    throw new UsageError('--input-format stream-json needs --output-format stream-json.');
  }
  if (includePartialMessages && outputFormat !== 'stream-json') {
    throw new UsageError('--include-partial-messages needs --output-format stream-json.');
  }
};

/** Returns undefined if there is no prompt and the session is resumed, because a prompt is optional then. */
const readPromptOrNone = async (
  input: string | undefined,
  host: TerminalHost,
  isResumed: boolean,
): Promise<string | undefined> => {
  try {
    return await readPrompt(input, host);
  } catch (error) {
    if (isResumed && error instanceof UsageError) return undefined;
    throw error;
  }
};

/** Serves the driver until the session stops, or until stdin has closed and the agent is idle. */
const drive = async (
  session: LeadSession,
  control: ControlProtocol,
  host: TerminalHost,
  shutdown: AbortSignal,
): Promise<void> => {
  const handlers = {
    prompt: (blocks: RawJson) => session.submit(blocks),
    interrupt: () => session.interrupt(),
    notify: host.notify,
  };
  const reading = control.read(host.stdin, handlers, shutdown);
  const isOver = session.stopped.then(() => true);
  const isResting = reading.then(() => untilIdle(session));
  await Promise.race([isOver, isResting]);
  // An open pipe would keep the process alive.
  host.stdin.destroy();
};

const MAX_LISTED_DENIALS = 20;

class Printer {
  lastStop: Stop | undefined;
  private result: RunResultBuilder;
  private readonly session: LeadSession;
  private readonly tasks: TaskMessages;
  private readonly swarm: SwarmLines;
  private readonly flags: RunFlags;
  private readonly host: TerminalHost;
  private readonly line: (text: string) => void;

  constructor(
    session: LeadSession,
    flags: RunFlags,
    host: TerminalHost,
    line: (text: string) => void,
    earlierAnswer: string,
  ) {
    this.session = session;
    this.result = new RunResultBuilder(earlierAnswer);
    this.tasks = new TaskMessages(session.id);
    const show = ({ text }: SwarmLine) => host.notify(text.trimStart());
    this.swarm = new SwarmLines({ show, isVerbose: flags.verbose === true });
    this.flags = flags;
    this.host = host;
    this.line = line;
  }

  take(item: FeedItem): void {
    const { outputFormat } = this.flags;
    this.result.take(item);
    if (outputFormat === 'stream-json') {
      const text = streamJsonLine(item, this.session.id);
      if (text !== undefined) this.line(text);
      const task = this.tasks.take(item);
      if (task !== undefined) this.line(JSON.stringify(task));
    }
    if (item.type === 'notice') this.host.notify(item.text);
    if (outputFormat === 'text') this.printAgents(item);
    if (item.type === 'run.ended') this.finish(item.stop);
  }

  /** Prints on stderr which agents run, and for which background agents the lead waits. */
  private printAgents(item: FeedItem): void {
    this.swarm.receive(item);
    const isAnswer = item.type === 'assistant.message' && item.stopReason === 'end_turn';
    if (!isAnswer && item.type !== 'run.ended') return;
    this.swarm.flush();
    const waiting = this.swarm.backgroundAgents();
    if (isAnswer && waiting.length > 0) this.host.notify(waitingText(waiting));
  }

  private finish(stop: Stop): void {
    this.lastStop = stop;
    const { outputFormat } = this.flags;
    if (outputFormat === 'text') this.printText(stop);
    else {
      const wantsJson = this.flags.jsonSchema !== undefined;
      this.line(JSON.stringify(this.result.toMessage(this.session, stop, randomUUID(), wantsJson)));
    }
    this.result = new RunResultBuilder();
  }

  private printText(stop: Stop): void {
    const { text } = this.result;
    // A terminal would execute control characters, so they are removed. A program gets the raw text.
    const shown = this.host.stdout.isTTY === true ? sanitize(text) : text;
    if (text !== '') this.host.out(`${shown}\n`);
    this.denialLines().forEach(this.host.notify);
    if (stop.reason !== 'end_turn') {
      const detail = stop.detail === null ? '' : `: ${stop.detail}`;
      this.host.notify(`stopped (${stop.reason})${detail}`);
    }
    const { overshoot } = this.session.budget;
    const { usd, tokens } = overshoot;
    if (usd > 0) this.host.notify(`The run cost $${usd.toFixed(4)} more than its budget.`);
    if (tokens > 0) {
      const count = tokens.toLocaleString('en');
      this.host.notify(`The run used ${count} tokens more than its budget.`);
    }
  }

  /** Returns a line per distinct denial, with its count. */
  private denialLines(): readonly string[] {
    const times = new Map<string, number>();
    for (const { tool, reason, agent } of this.result.denials) {
      const asker = agent === undefined ? '' : ` for ${agent.type ?? 'a fork'}`;
      const line = `${tool} was not run${asker}: ${reason}`;
      times.set(line, (times.get(line) ?? 0) + 1);
    }
    const lines = [...times].map(([line, n]) => (n === 1 ? line : `${line} (${n} times)`));
    const more = lines.length - MAX_LISTED_DENIALS;
    return more <= 0
      ? lines
      : [...lines.slice(0, MAX_LISTED_DENIALS), `${more} more denials; skein logs shows them.`];
  }
}
