/**
 * Prints the runs of a session in one of three formats. In stream-json a result is always the last message: what
 * happens after the end of a run is printed before its result, or held until the next run.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { LeadSession } from '../../actors/session/lead-session.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { RunResultBuilder } from '../../sdk/api/messages/run-result-builder.js';
import { streamJsonLine } from '../../sdk/api/messages/stream-json-line.js';
import { TaskMessages } from '../../sdk/api/messages/task-messages.js';
import { logLine } from '../../terminal/output/log-line.js';
import { type SwarmLine, SwarmLines, waitingText } from '../../terminal/output/swarm-lines.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { sanitize } from '../../terminal/text/sanitize.js';
import type { RunFlags } from '../session/run-flags.js';

const MAX_LISTED_DENIALS = 20;
/** Maximum lines that are held between two runs. The oldest are dropped, because a session may be idle for days. */
const MAX_HELD_LINES = 1_000;

interface RunPrinterOptions {
  readonly session: LeadSession;
  readonly flags: RunFlags;
  readonly host: TerminalHost;
  /** Prints a line. */
  readonly line: (text: string) => void;
  /** Result of a resumed run that has nothing left to do. */
  readonly earlierAnswer: string;
  /** True if workers may run agents of the session. Then each line on stderr has the time and its origin. */
  readonly hasWorkers: boolean;
}

export class RunPrinter {
  lastStop: Stop | undefined;
  private result: RunResultBuilder;
  private readonly options: RunPrinterOptions;
  private readonly tasks: TaskMessages;
  private readonly swarm: SwarmLines;
  /** True if prompts come by stdin: then each result is printed at once, because the driver waits for it. */
  private readonly isDriven: boolean;
  /** Lines between two runs. */
  private held: string[] = [];
  /** True if messages were printed after the last result. */
  private isResultDue: boolean;
  private isClosed = false;

  constructor(options: RunPrinterOptions) {
    const { session, flags, earlierAnswer } = options;
    this.options = options;
    this.result = new RunResultBuilder(earlierAnswer);
    this.tasks = new TaskMessages(session.id);
    const show = ({ text, worker }: SwarmLine) => this.note(text.trimStart(), worker);
    this.swarm = new SwarmLines({ show, isVerbose: flags.verbose === true });
    this.isDriven = flags.inputFormat === 'stream-json';
    this.isResultDue = !this.isDriven;
  }

  take(item: FeedItem): void {
    const { flags, session } = this.options;
    this.result.take(item);
    if (flags.outputFormat === 'stream-json') {
      this.addLine(streamJsonLine(item, session.id));
      const task = this.tasks.take(item);
      if (task !== undefined) this.addLine(JSON.stringify(task));
    }
    if (item.type === 'notice') this.note(item.text);
    if (flags.outputFormat === 'text') this.printAgents(item);
    if (item.type === 'run.ended') this.finishRun(item.stop, item.goesOn === true);
  }

  /** Prints a line on stderr. */
  note(text: string, worker?: string): void {
    const { host, session, hasWorkers } = this.options;
    if (!hasWorkers) {
      host.notify(text);
      return;
    }
    const source = {
      host: hostname(),
      session: session.id,
      ...(worker !== undefined && { worker }),
    };
    host.err(logLine(new Date().toISOString(), source, text));
  }

  /**
   * Prints the result that is still due. Call after the session is closed. `stop` is the reason if no run has
   * ended. Idempotent.
   */
  close(stop: Stop): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (!this.isResultDue || this.options.flags.outputFormat === 'text') return;
    this.printResult((this.isDriven ? undefined : this.lastStop) ?? stop);
  }

  private addLine(text: string | undefined): void {
    if (text === undefined) return;
    const { session, line } = this.options;
    // Messages of background agents are printed at once, because their reports start a run with a result.
    if (this.isDriven && session.isIdle && session.pendingReports === 0) {
      this.held.push(text);
      if (this.held.length > MAX_HELD_LINES) this.held.shift();
      return;
    }
    this.isResultDue = true;
    this.held.splice(0).forEach(line);
    line(text);
  }

  private finishRun(stop: Stop, goesOn: boolean): void {
    this.lastStop = stop;
    const { outputFormat } = this.options.flags;
    if (outputFormat === 'text') this.printText(stop);
    else if (this.isDriven || (goesOn && outputFormat === 'stream-json')) this.printResult(stop);
    else if (!goesOn) {
      // The session is about to end. The result is printed after the last message.
      this.isResultDue = true;
      return;
    }
    this.result = new RunResultBuilder();
  }

  private printResult(stop: Stop): void {
    const { session, flags, line } = this.options;
    const wantsJson = flags.jsonSchema !== undefined;
    this.isResultDue = false;
    this.held.splice(0).forEach(line);
    line(JSON.stringify(this.result.toMessage(session, stop, randomUUID(), wantsJson)));
  }

  /** Prints on stderr which agents run, and for which background agents the lead waits. */
  private printAgents(item: FeedItem): void {
    this.swarm.receive(item);
    const isAnswer = item.type === 'assistant.message' && item.stopReason === 'end_turn';
    if (!isAnswer && item.type !== 'run.ended') return;
    this.swarm.flush();
    const waiting = this.swarm.backgroundAgents();
    if (isAnswer && waiting.length > 0) this.note(waitingText(waiting));
  }

  private printText(stop: Stop): void {
    const { text } = this.result;
    const { host, session } = this.options;
    // A terminal would execute control characters, so they are removed. A program gets the raw text.
    const shown = host.stdout.isTTY === true ? sanitize(text) : text;
    if (text !== '') host.out(`${shown}\n`);
    for (const line of this.denialLines()) this.note(line);
    if (stop.reason !== 'end_turn') {
      const detail = stop.detail === null ? '' : `: ${stop.detail}`;
      this.note(`stopped (${stop.reason})${detail}`);
    }
    const { overshoot } = session.budget;
    const { usd, tokens } = overshoot;
    if (usd > 0) this.note(`The run cost $${usd.toFixed(4)} more than its budget.`);
    if (tokens > 0) {
      const count = tokens.toLocaleString('en');
      this.note(`The run used ${count} tokens more than its budget.`);
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
