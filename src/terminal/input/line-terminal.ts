/**
 * Line terminal: reads whole lines from a dumb terminal or a pipe.
 *
 * A pipe holds a script, so its next line is read only after the previous line was handled. The output then does
 * not depend on how fast the input arrives.
 */
import { createInterface, type Interface } from 'node:readline';
import {
  askWithdrawable,
  GRACE_MS,
  paintFor,
  type Terminal,
  type TerminalHandlers,
  type TerminalReply,
} from '../terminal.js';
import type { TerminalHost } from '../terminal-host.js';
import { echoLines, exactText } from '../text/sanitize.js';
import { MAX_DRAFT_LENGTH } from './line-editor.js';

const PROMPT = '> ';
/** On a line of its own it starts and ends a prompt of several lines. */
const FENCE = '"""';
/** Unread lines at which reading from the pipe pauses. */
const MAX_PENDING_LINES = 1_000;

interface Question {
  readonly label: string;
  readonly since: number;
  readonly settle: (reply: TerminalReply) => void;
}

export class LineTerminal implements Terminal {
  readonly isCapable = false;
  readonly isInteractive: boolean;
  readonly paint = paintFor(false);
  private readonly host: TerminalHost;
  private handlers: TerminalHandlers | undefined;
  private reader: Interface | undefined;
  private isBusy = true;
  private isLineStart = true;
  private isEnded = false;
  private hasReportedEnd = false;
  private readonly pendingLines: string[] = [];
  private question: Question | undefined;
  private reminder: NodeJS.Timeout | undefined;
  /** Unfinished prompt of several lines. */
  private block: { readonly lines: string[]; readonly isFenced: boolean; size: number } | undefined;

  constructor(host: TerminalHost) {
    this.host = host;
    this.isInteractive = host.stdin.isTTY === true;
  }

  get columns(): number {
    return this.host.stdout.columns || 80;
  }

  open(handlers: TerminalHandlers): void {
    this.handlers = handlers;
    this.reader = createInterface({
      input: this.host.stdin,
      terminal: false,
      crlfDelay: Number.POSITIVE_INFINITY,
    });
    this.reader.on('line', (line) => this.enqueue(line));
    this.reader.on('close', () => {
      this.isEnded = true;
      this.processLines();
    });
    this.host.stdin.on('error', () => this.reader?.close());
  }

  close(): void {
    this.handlers = undefined;
    clearTimeout(this.reminder);
    this.reader?.close();
    this.freshLine();
    // An open pipe would keep the process alive.
    this.host.stdin.destroy();
  }

  write(text: string): void {
    if (text === '') return;
    this.host.out(text);
    this.isLineStart = text.endsWith('\n');
    if (this.isInteractive && this.question !== undefined) this.remindSoon();
  }

  /** Repeats the question after other output has followed it and then paused. */
  private remindSoon(): void {
    clearTimeout(this.reminder);
    this.reminder = setTimeout(() => {
      if (this.question !== undefined && this.isLineStart) this.write(this.question.label);
    }, GRACE_MS);
  }

  freshLine(): void {
    if (!this.isLineStart) this.write('\n');
  }

  setBusy(isBusy: boolean): void {
    const wasBusy = this.isBusy;
    this.isBusy = isBusy;
    if (!wasBusy || isBusy) return;
    if (this.isInteractive && this.question === undefined) this.prompt();
    setImmediate(() => this.processLines());
  }

  ask(label: string, signal: AbortSignal, isExpected = false): Promise<TerminalReply> {
    return askWithdrawable(
      signal,
      (settle) => {
        const since = isExpected ? Number.NEGATIVE_INFINITY : performance.now();
        this.question = { label, since, settle };
        this.freshLine();
        this.write(label);
        setImmediate(() => this.processLines());
      },
      (reply) => {
        this.question = undefined;
        clearTimeout(this.reminder);
        if (reply.kind !== 'line' || this.isInteractive) this.freshLine();
      },
    );
  }

  private prompt(): void {
    this.freshLine();
    this.write(PROMPT);
  }

  private enqueue(line: string): void {
    this.pendingLines.push(line);
    if (this.pendingLines.length >= MAX_PENDING_LINES) this.reader?.pause();
    this.processLines();
  }

  /** Handles all pending lines that may be handled now. */
  private processLines(): void {
    while (this.handlers !== undefined && this.mayRead()) {
      const line = this.pendingLines.shift();
      if (this.pendingLines.length === MAX_PENDING_LINES / 2) this.reader?.resume();
      if (line === undefined) {
        if (!this.isEnded) return;
        this.finish();
        return;
      }
      if (this.isInteractive) this.isLineStart = true;
      this.read(line);
    }
  }

  private mayRead(): boolean {
    return this.isInteractive || this.question !== undefined || !this.isBusy;
  }

  private read(line: string): void {
    if (this.question === undefined) {
      this.collect(line);
      return;
    }
    if (this.isInteractive && performance.now() - this.question.since < GRACE_MS) {
      this.write('(That line was typed before the question, and is ignored.)\n');
      return;
    }
    if (!this.isInteractive) this.write(`${exactText(line)}\n`);
    this.question.settle({ kind: 'line', text: line });
  }

  /** Turns lines into prompts: one line each, or several between fences or with backslashes at their ends. */
  private collect(line: string): void {
    const isFence = line.trim() === FENCE;
    const block = this.block;
    if (block === undefined) {
      if (isFence) this.block = { lines: [], isFenced: true, size: 0 };
      else if (line.endsWith('\\')) {
        this.block = { lines: [line.slice(0, -1)], isFenced: false, size: line.length };
      } else this.submit(line);
      return;
    }
    const continues = block.isFenced ? !isFence : line.endsWith('\\');
    if (!isFence || !block.isFenced) {
      block.size += line.length + 1;
      if (block.size <= MAX_DRAFT_LENGTH) {
        block.lines.push(continues && !block.isFenced ? line.slice(0, -1) : line);
      }
    }
    if (continues) return;
    this.block = undefined;
    this.submit(block.lines.join('\n'), block.size > MAX_DRAFT_LENGTH);
  }

  private submit(prompt: string, isCut = prompt.length > MAX_DRAFT_LENGTH): void {
    if (prompt.trim() === '') {
      if (this.isInteractive && !this.isBusy) this.prompt();
      return;
    }
    if (!this.isInteractive) {
      this.freshLine();
      this.write(`${PROMPT}${echoLines(prompt).join('\n  ')}\n`);
    }
    if (isCut)
      this.write(`(A prompt has at most ${MAX_DRAFT_LENGTH} characters; the rest was dropped.)\n`);
    this.handlers?.line(prompt.slice(0, MAX_DRAFT_LENGTH));
  }

  private finish(): void {
    if (this.question !== undefined) {
      this.question.settle({ kind: 'gone' });
      return;
    }
    if (this.block !== undefined) {
      const { lines } = this.block;
      this.block = undefined;
      this.submit(lines.join('\n'));
      // The last prompt may have started a run. The end is reported when the run has ended.
      if (!this.isInteractive && this.isBusy) return;
    }
    if (this.hasReportedEnd) return;
    this.hasReportedEnd = true;
    this.handlers?.end();
  }
}
