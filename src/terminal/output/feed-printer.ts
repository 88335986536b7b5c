/** Tells a person in lines what an agent says and does, as it happens. Every state is a word. */
import { redact } from '../../policy/redaction/redaction.js';
import type { Todo } from '../../protocol/agent/todos.js';
import type { StreamEvent } from '../../protocol/model/model.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { stopText } from '../format/format-stop.js';
import { reportCall, todoLines } from '../format/format-tool.js';
import type { Terminal } from '../terminal.js';
import { oneLine, sanitize } from '../text/sanitize.js';
import { type SwarmLine, SwarmLines } from './swarm-lines.js';

/** A call that lasts longer than this is told about, and no more often. */
const PROGRESS_EVERY_MS = 1_000;
/** What may come while a person thinks about a question. */
const MOST_HELD = 10_000;

/** Where there is a screen, it shows these in its own way. */
export interface WorkDisplay {
  /** The agent begins to say something, and goes on with it. */
  speechBegins(): void;
  says(text: string): void;
  callStarted(item: Extract<FeedItem, { type: 'tool.started' }>): void;
  callProgressed(item: Extract<FeedItem, { type: 'tool.progress' }>): void;
  callEnded(item: Extract<FeedItem, { type: 'tool.ended' }>): void;
  todosChanged(todos: readonly Todo[]): void;
}

export interface NarrationOptions {
  /** Also what agents below the lead do, call by call. */
  readonly isVerbose?: boolean;
  readonly work?: WorkDisplay;
}

export class FeedPrinter {
  private readonly terminal: Terminal;
  private readonly work: WorkDisplay | undefined;
  /** Calls that have started, with the line they were announced with. */
  private readonly running = new Map<string, string>();
  /** The call whose line is the last thing on the screen. */
  private newest: string | undefined;
  private hasSpoken = false;
  private hasThought = false;
  private lastProgress = 0;
  /** Why the attempts before this one failed: said once, not at each. */
  private lastFailure = '';
  /** What is told later; undefined while nothing is held back. */
  private held: FeedItem[] | undefined;
  private lost = 0;
  /** A paragraph is being written: lines about others would cut it in two. */
  private isTalking = false;
  private readonly asides: SwarmLine[] = [];
  /** The agents that work for others. */
  readonly swarm: SwarmLines;

  constructor(terminal: Terminal, { isVerbose = false, work }: NarrationOptions = {}) {
    this.terminal = terminal;
    this.work = work;
    this.swarm = new SwarmLines({
      isVerbose,
      show: (line) => {
        this.asides.push(line);
        this.showAsides();
      },
    });
  }

  tell(item: FeedItem): void {
    if (this.held === undefined) this.show(item);
    else if (this.held.length < MOST_HELD) this.held.push(item);
    else this.lost += 1;
  }

  /**
   * Nothing that an agent says comes between a question and its answer: it could pose as another
   * question. The returned function tells what has come meanwhile.
   */
  hold(): () => void {
    this.held ??= [];
    return () => {
      const { held = [], lost } = this;
      this.held = undefined;
      this.lost = 0;
      for (const item of held) this.show(item);
      this.showAsides();
      if (lost > 0) this.remark(`${lost} more things happened meanwhile; skein logs shows them.`);
    };
  }

  private show(item: FeedItem): void {
    switch (item.type) {
      case 'request.started':
        this.hasSpoken = false;
        this.hasThought = false;
        break;
      case 'stream.event':
        this.hear(item.event);
        break;
      case 'attempt.discarded':
        this.discard(item.reason);
        break;
      case 'assistant.message':
        this.lastFailure = '';
        this.hushed();
        break;
      case 'tool.started':
        this.running.set(item.call, labelOf(item));
        // The agent that it starts has lines of its own.
        if (item.tool === 'Task') break;
        if (this.work !== undefined) {
          this.work.callStarted(item);
          break;
        }
        this.line(`  ${this.running.get(item.call)}`);
        this.newest = item.call;
        this.lastProgress = performance.now();
        break;
      case 'tool.progress':
        if (this.work === undefined) this.progress(item.call, item.note);
        else this.work.callProgressed(item);
        break;
      case 'tool.ended':
        if (item.tool === 'Task' && this.swarm.knows(item.call)) this.running.delete(item.call);
        else if (this.work === undefined) this.end(item);
        else {
          this.swarm.flush();
          this.running.delete(item.call);
          this.work.callEnded(item);
        }
        break;
      case 'agent.spawned':
      case 'agent.feed':
      case 'agent.ended':
      case 'agent.rested':
      case 'fan-out.previewed':
        this.swarm.take(item);
        break;
      case 'todos.changed':
        if (this.work !== undefined) this.work.todosChanged(item.todos);
        else for (const line of todoLines(item.todos)) this.line(`    ${line}`);
        break;
      case 'context.compacted':
        this.remark(oneLine(item.summary, 400));
        break;
      case 'notice':
        this.remark(this.unsaid(item.text));
        break;
      case 'run.ended':
        this.hushed();
        this.swarm.flush();
        this.running.clear();
        this.stop(item);
        this.lastFailure = '';
        break;
      default:
        break;
    }
  }

  /** A sentence of ours, between brackets so that it is not taken for the agent's. */
  remark(sentence: string): void {
    this.line(this.terminal.paint.dim(`(${sanitize(sentence)})`));
  }

  /** Lines of somebody else: the end of a call must not seem to belong to them. */
  say(...lines: readonly string[]): void {
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

  /** Lines about others wait until a paragraph, or a question, is over. */
  private showAsides(): void {
    if (this.held !== undefined || this.isTalking) return;
    const { paint } = this.terminal;
    for (const { text, isAlarming } of this.asides.splice(0)) {
      this.put(isAlarming ? paint.alarm(text) : text);
    }
  }

  private hushed(): void {
    this.isTalking = false;
    this.showAsides();
  }

  private discard(reason: string): void {
    this.hushed();
    const isNew = reason !== this.lastFailure;
    this.lastFailure = reason;
    if (this.hasSpoken) this.remark(`The text above was cut off and does not count: ${reason}`);
    else if (isNew) this.remark(`The attempt failed: ${reason}`);
  }

  /** Without the reason that stands above already. */
  private unsaid(text: string): string {
    const { lastFailure } = this;
    if (lastFailure === '' || !text.endsWith(lastFailure)) return text;
    return text.slice(0, -lastFailure.length).trimEnd();
  }

  private hear(event: StreamEvent): void {
    const { type } = event;
    if (type === 'content_block_delta') {
      const { text } = event.delta as { readonly text?: unknown };
      if (typeof text !== 'string') return;
      if (this.work === undefined) this.terminal.write(sanitize(text));
      else this.work.says(sanitize(text));
    } else if (type === 'content_block_start') {
      this.begin(event.content_block as { readonly type?: string; readonly name?: unknown });
    } else if (type === 'content_block_stop') {
      this.terminal.freshLine();
      this.hushed();
    }
  }

  private begin(block: { readonly type?: string; readonly name?: unknown }): void {
    if (block.type === 'text') {
      this.swarm.flush();
      this.isTalking = true;
      this.hasSpoken = true;
      this.newest = undefined;
      this.terminal.freshLine();
      this.terminal.write('\n');
      this.work?.speechBegins();
    } else if (block.type === 'thinking' && !this.hasThought) {
      this.hasThought = true;
      this.line(this.terminal.paint.dim('(thinking…)'));
    } else if (block.type === 'server_tool_use') {
      this.line(`  ${oneLine(sanitize(String(block.name)))} (run by the provider)`);
    }
  }

  /** Only where a line more does no harm: a screen reader would read out every one. */
  private progress(call: string, note: string): void {
    const now = performance.now();
    if (this.swarm.knows(call)) return;
    if (!this.terminal.isCapable || now - this.lastProgress < PROGRESS_EVERY_MS) return;
    this.lastProgress = now;
    const name = this.newest === call ? '' : `${this.running.get(call) ?? 'a call'}: `;
    const text = this.terminal.paint.dim(`    ${name}${oneLine(sanitize(note), 120)}`);
    this.line(text);
    if (name === '') this.newest = call;
  }

  private end(item: Extract<FeedItem, { type: 'tool.ended' }>): void {
    const { paint } = this.terminal;
    const { word, remark, lines } = reportCall(item);
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
    this.remark(stopText(reason, detail === null ? '' : this.unsaid(detail), goesOn));
  }
}

const labelOf = ({ description }: { readonly description: string }): string =>
  oneLine(sanitize(redact(description)));
