/** Feed printer: prints the text and calls of an agent as lines, as they happen. */
import { redact } from '../../policy/redaction/redact.js';
import type { Todo } from '../../protocol/agent/todo.js';
import type { StreamEvent } from '../../protocol/model/model-port.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { formatCall, formatTodos } from '../format/format-call.js';
import { formatStop } from '../format/format-stop.js';
import type { Terminal } from '../terminal.js';
import { oneLine, sanitize } from '../text/sanitize.js';
import { type SwarmLine, SwarmLines } from './swarm-lines.js';

/** Minimum time between two progress lines. */
const PROGRESS_INTERVAL_MS = 1_000;
/** Maximum feed items that are kept while a question is open. */
const MAX_DEFERRED_ITEMS = 10_000;

/** Display of a screen that replaces the printer's lines for text, calls and todos. */
export interface ActivityDisplay {
  /** A text block of the model starts. `textReceived` follows with its pieces. */
  textStarted(): void;
  textReceived(text: string): void;
  callStarted(item: Extract<FeedItem, { type: 'tool.started' }>): void;
  callProgressed(item: Extract<FeedItem, { type: 'tool.progress' }>): void;
  callEnded(item: Extract<FeedItem, { type: 'tool.ended' }>): void;
  todosChanged(todos: readonly Todo[]): void;
}

interface FeedPrinterOptions {
  /** Prints the calls of children too. Default: false. */
  readonly isVerbose?: boolean;
  readonly display?: ActivityDisplay;
}

export class FeedPrinter {
  private readonly terminal: Terminal;
  private readonly display: ActivityDisplay | undefined;
  /** Labels of running calls by call id. */
  private readonly running = new Map<string, string>();
  /** Call whose line is the last line on the screen. */
  private newest: string | undefined;
  private hasSpoken = false;
  private hasThought = false;
  private lastProgress = 0;
  /** Reason of the last failed attempt, which is printed only once. */
  private lastFailure = '';
  /** Feed items to print after the pause; undefined while not paused. */
  private deferred: FeedItem[] | undefined;
  private dropped = 0;
  /** True while a paragraph is printed. Swarm lines wait, because they would cut it in two. */
  private isInParagraph = false;
  private readonly pendingLines: SwarmLine[] = [];
  readonly swarm: SwarmLines;

  constructor(terminal: Terminal, { isVerbose = false, display }: FeedPrinterOptions = {}) {
    this.terminal = terminal;
    this.display = display;
    this.swarm = new SwarmLines({
      isVerbose,
      show: (line) => {
        this.pendingLines.push(line);
        this.printPendingLines();
      },
    });
  }

  receive(item: FeedItem): void {
    if (this.deferred === undefined) this.show(item);
    else if (this.deferred.length < MAX_DEFERRED_ITEMS) this.deferred.push(item);
    else this.dropped += 1;
  }

  /**
   * Defers output while a question is open, because text of an agent could imitate another question. Returns a
   * function that prints the deferred items.
   */
  pause(): () => void {
    this.deferred ??= [];
    return () => {
      const { deferred = [], dropped } = this;
      this.deferred = undefined;
      this.dropped = 0;
      for (const item of deferred) this.show(item);
      this.printPendingLines();
      if (dropped > 0)
        this.remark(`${dropped} more events happened meanwhile; skein logs shows them.`);
    };
  }

  private show(item: FeedItem): void {
    switch (item.type) {
      case 'request.started':
        this.hasSpoken = false;
        this.hasThought = false;
        break;
      case 'stream.event':
        this.showStreamEvent(item.event);
        break;
      case 'attempt.discarded':
        this.discard(item.reason);
        break;
      case 'assistant.message':
        this.lastFailure = '';
        this.endParagraph();
        break;
      case 'tool.started':
        this.running.set(item.call, labelOf(item));
        // The agent that the call starts has its own lines.
        if (item.tool === 'Task') break;
        if (this.display !== undefined) {
          this.display.callStarted(item);
          break;
        }
        this.line(`  ${this.running.get(item.call)}`);
        this.newest = item.call;
        this.lastProgress = performance.now();
        break;
      case 'tool.progress':
        if (this.display === undefined) this.progress(item.call, item.note);
        else this.display.callProgressed(item);
        break;
      case 'tool.ended':
        if (item.tool === 'Task' && this.swarm.startedAgent(item.call))
          this.running.delete(item.call);
        else if (this.display === undefined) this.end(item);
        else {
          this.swarm.flush();
          this.running.delete(item.call);
          this.display.callEnded(item);
        }
        break;
      case 'agent.spawned':
      case 'agent.feed':
      case 'agent.ended':
      case 'agent.rested':
      case 'fan-out.previewed':
        this.swarm.receive(item);
        break;
      case 'todos.changed':
        if (this.display !== undefined) this.display.todosChanged(item.todos);
        else for (const line of formatTodos(item.todos)) this.line(`    ${line}`);
        break;
      case 'context.compacted':
        this.remark(oneLine(item.summary, 400));
        break;
      case 'notice':
        this.remark(this.withoutKnownFailure(item.text));
        break;
      case 'run.ended':
        this.endParagraph();
        this.swarm.flush();
        this.running.clear();
        this.stop(item);
        this.lastFailure = '';
        break;
      default:
        break;
    }
  }

  /** Prints a sentence of Skein, in parentheses to distinguish it from text of the agent. */
  remark(sentence: string): void {
    this.line(this.terminal.paint.dim(`(${sanitize(sentence)})`));
  }

  /** Prints lines of another part of the program. The end of a running call then repeats its label. */
  printLines(...lines: readonly string[]): void {
    for (const line of lines) this.line(line);
  }

  private line(text: string): void {
    this.swarm.flush();
    this.put(text);
  }

  private put(text: string): void {
    this.newest = undefined;
    this.terminal.freshLine();
    this.terminal.write(`${text}\n`);
  }

  /** Prints swarm lines, unless a paragraph or a question is open. */
  private printPendingLines(): void {
    if (this.deferred !== undefined || this.isInParagraph) return;
    const { paint } = this.terminal;
    for (const { text, isAlarming } of this.pendingLines.splice(0)) {
      this.put(isAlarming ? paint.alarm(text) : text);
    }
  }

  private endParagraph(): void {
    this.isInParagraph = false;
    this.printPendingLines();
  }

  private discard(reason: string): void {
    this.endParagraph();
    const isNew = reason !== this.lastFailure;
    this.lastFailure = reason;
    if (this.hasSpoken) this.remark(`The text above was cut off and does not count: ${reason}`);
    else if (isNew) this.remark(`The attempt failed: ${reason}`);
  }

  /** Removes the failure reason at the end of `text` if it was printed before. */
  private withoutKnownFailure(text: string): string {
    const { lastFailure } = this;
    if (lastFailure === '' || !text.endsWith(lastFailure)) return text;
    return text.slice(0, -lastFailure.length).trimEnd();
  }

  private showStreamEvent(event: StreamEvent): void {
    const { type } = event;
    if (type === 'content_block_delta') {
      const { text } = event.delta as { readonly text?: unknown };
      if (typeof text !== 'string') return;
      if (this.display === undefined) this.terminal.write(sanitize(text));
      else this.display.textReceived(sanitize(text));
    } else if (type === 'content_block_start') {
      this.begin(event.content_block as { readonly type?: string; readonly name?: unknown });
    } else if (type === 'content_block_stop') {
      this.terminal.freshLine();
      this.endParagraph();
    }
  }

  private begin(block: { readonly type?: string; readonly name?: unknown }): void {
    if (block.type === 'text') {
      this.swarm.flush();
      this.isInParagraph = true;
      this.hasSpoken = true;
      this.newest = undefined;
      this.terminal.freshLine();
      this.terminal.write('\n');
      this.display?.textStarted();
    } else if (block.type === 'thinking' && !this.hasThought) {
      this.hasThought = true;
      this.line(this.terminal.paint.dim('(thinking…)'));
    } else if (block.type === 'server_tool_use') {
      this.line(`  ${oneLine(sanitize(String(block.name)))} (run by the provider)`);
    }
  }

  /** Prints progress on capable terminals only, because a screen reader would read every line. */
  private progress(call: string, note: string): void {
    const now = performance.now();
    if (this.swarm.startedAgent(call)) return;
    if (!this.terminal.isCapable || now - this.lastProgress < PROGRESS_INTERVAL_MS) return;
    this.lastProgress = now;
    const name = this.newest === call ? '' : `${this.running.get(call) ?? 'a call'}: `;
    const text = this.terminal.paint.dim(`    ${name}${oneLine(sanitize(note), 120)}`);
    this.line(text);
    if (name === '') this.newest = call;
  }

  private end(item: Extract<FeedItem, { type: 'tool.ended' }>): void {
    const { paint } = this.terminal;
    const { word, remark, lines } = formatCall(item);
    const announced = this.running.get(item.call);
    this.running.delete(item.call);
    const name = this.newest === item.call ? '' : ` ${announced ?? labelOf(item)}`;
    const status = word === 'ok' ? word : paint.alarm(word);
    const head = `    ${status}${name}`;
    this.line(remark === '' ? head : `${head}: ${remark}`);
    for (const line of lines) this.line(paint.dim(`      ${line}`));
  }

  private stop({ stop, goesOn = false }: Extract<FeedItem, { type: 'run.ended' }>): void {
    const { reason, detail } = stop;
    this.terminal.freshLine();
    if (reason === 'end_turn') return;
    this.remark(
      formatStop(reason, detail === null ? '' : this.withoutKnownFailure(detail), goesOn),
    );
  }
}

const labelOf = ({ description }: { readonly description: string }): string =>
  oneLine(sanitize(redact(description)));
