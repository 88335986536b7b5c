/**
 * Whole lines from a dumb terminal or a pipe. A pipe holds a script: its next line is read when the
 * one before has been dealt with, so that what comes out does not depend on how fast it came in.
 */
import { createInterface, type Interface } from 'node:readline';
import {
  GRACE_MS,
  paintFor,
  type Reply,
  type Terminal,
  type TerminalHandlers,
  withdrawable,
} from '../terminal.js';
import type { TerminalHost } from '../terminal-host.js';
import { echoOf, exactText } from '../text/sanitize.js';
import { LONGEST_DRAFT } from './line-editor.js';

const PROMPT = '> ';
/** Alone on a line it begins and ends a prompt of several lines. */
const FENCE = '"""';
/** Lines that wait to be read before the pipe is made to wait. */
const MOST_WAITING = 1_000;

interface Question {
  readonly label: string;
  readonly since: number;
  readonly settle: (reply: Reply) => void;
}

export class LineTerminal implements Terminal {
  readonly isCapable = false;
  readonly isPerson: boolean;
  readonly paint = paintFor(false);
  private readonly machine: TerminalHost;
  private handlers: TerminalHandlers | undefined;
  private reader: Interface | undefined;
  private isBusy = true;
  private isLineStart = true;
  private isEnded = false;
  private hasTold = false;
  private readonly waiting: string[] = [];
  private question: Question | undefined;
  private reminder: NodeJS.Timeout | undefined;
  /** The lines of a prompt that has not come to its end. */
  private block: { readonly lines: string[]; readonly isFenced: boolean; size: number } | undefined;

  constructor(machine: TerminalHost) {
    this.machine = machine;
    this.isPerson = machine.stdin.isTTY === true;
  }

  get columns(): number {
    return this.machine.stdout.columns || 80;
  }

  open(handlers: TerminalHandlers): void {
    this.handlers = handlers;
    this.reader = createInterface({
      input: this.machine.stdin,
      terminal: false,
      crlfDelay: Number.POSITIVE_INFINITY,
    });
    this.reader.on('line', (line) => this.take(line));
    this.reader.on('close', () => {
      this.isEnded = true;
      this.next();
    });
    this.machine.stdin.on('error', () => this.reader?.close());
  }

  close(): void {
    this.handlers = undefined;
    clearTimeout(this.reminder);
    this.reader?.close();
    this.freshLine();
    // An open pipe would keep the process alive.
    this.machine.stdin.destroy();
  }

  write(text: string): void {
    if (text === '') return;
    this.machine.out(text);
    this.isLineStart = text.endsWith('\n');
    if (this.isPerson && this.question !== undefined) this.remindSoon();
  }

  /** Other lines came after the question: when they have ended, it is put once more. */
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
    if (this.isPerson && this.question === undefined) this.prompt();
    setImmediate(() => this.next());
  }

  ask(label: string, signal: AbortSignal, isExpected = false): Promise<Reply> {
    return withdrawable(
      signal,
      (settle) => {
        const since = isExpected ? Number.NEGATIVE_INFINITY : performance.now();
        this.question = { label, since, settle };
        this.freshLine();
        this.write(label);
        setImmediate(() => this.next());
      },
      (reply) => {
        this.question = undefined;
        clearTimeout(this.reminder);
        if (reply.kind !== 'line' || this.isPerson) this.freshLine();
      },
    );
  }

  private prompt(): void {
    this.freshLine();
    this.write(PROMPT);
  }

  private take(line: string): void {
    this.waiting.push(line);
    if (this.waiting.length >= MOST_WAITING) this.reader?.pause();
    this.next();
  }

  /** Deals with as much as may be dealt with now. */
  private next(): void {
    while (this.handlers !== undefined && this.mayRead()) {
      const line = this.waiting.shift();
      if (this.waiting.length === MOST_WAITING / 2) this.reader?.resume();
      if (line === undefined) {
        if (!this.isEnded) return;
        this.finish();
        return;
      }
      if (this.isPerson) this.isLineStart = true;
      this.read(line);
    }
  }

  private mayRead(): boolean {
    return this.isPerson || this.question !== undefined || !this.isBusy;
  }

  private read(line: string): void {
    if (this.question === undefined) {
      this.gather(line);
      return;
    }
    if (this.isPerson && performance.now() - this.question.since < GRACE_MS) {
      this.write('(That line was typed before the question, and is ignored.)\n');
      return;
    }
    if (!this.isPerson) this.write(`${exactText(line)}\n`);
    this.question.settle({ kind: 'line', text: line });
  }

  /** Lines become prompts: one each, or several between fences or behind backslashes. */
  private gather(line: string): void {
    const isFence = line.trim() === FENCE;
    const block = this.block;
    if (block === undefined) {
      if (isFence) this.block = { lines: [], isFenced: true, size: 0 };
      else if (line.endsWith('\\')) {
        this.block = { lines: [line.slice(0, -1)], isFenced: false, size: line.length };
      } else this.say(line);
      return;
    }
    const goesOn = block.isFenced ? !isFence : line.endsWith('\\');
    if (!isFence || !block.isFenced) {
      block.size += line.length + 1;
      if (block.size <= LONGEST_DRAFT) {
        block.lines.push(goesOn && !block.isFenced ? line.slice(0, -1) : line);
      }
    }
    if (goesOn) return;
    this.block = undefined;
    this.say(block.lines.join('\n'), block.size > LONGEST_DRAFT);
  }

  private say(prompt: string, isCut = prompt.length > LONGEST_DRAFT): void {
    if (prompt.trim() === '') {
      if (this.isPerson && !this.isBusy) this.prompt();
      return;
    }
    if (!this.isPerson) {
      this.freshLine();
      this.write(`${PROMPT}${echoOf(prompt).join('\n  ')}\n`);
    }
    if (isCut) this.write(`(A prompt holds ${LONGEST_DRAFT} characters; the rest was left out.)\n`);
    this.handlers?.line(prompt.slice(0, LONGEST_DRAFT));
  }

  private finish(): void {
    if (this.question !== undefined) {
      this.question.settle({ kind: 'gone' });
      return;
    }
    if (this.block !== undefined) {
      const { lines } = this.block;
      this.block = undefined;
      this.say(lines.join('\n'));
      // What was said last may have made us busy; the end is told when that is over.
      if (!this.isPerson && this.isBusy) return;
    }
    if (this.hasTold) return;
    this.hasTold = true;
    this.handlers?.end();
  }
}
