/**
 * Live state of the session screen: unfinished text, running calls and agents, todos, prompt.
 *
 * Finished lines go to the scroll-back, once.
 */

import type { Todo } from '../../protocol/agent/todo.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { DraftView } from '../../terminal/input/draft-view.js';
import type { LineDisplay } from '../../terminal/input/line-screen.js';
import type { ActivityDisplay } from '../../terminal/output/feed-printer.js';
import {
  MARKDOWN_START,
  type MarkdownState,
  paintMarkdown,
} from '../../terminal/output/paint-markdown.js';
import type { Paint } from '../../terminal/terminal.js';
import { cutText, foldLine } from '../../terminal/text/fit-text.js';
import { oneLine } from '../../terminal/text/sanitize.js';
import { textWidth } from '../../terminal/text/text-width.js';
import type { Glyphs } from '../screen/glyphs.js';
import { FRAME_MS, Observable } from '../screen/observable.js';
import {
  type CallEndedItem,
  CallLog,
  type CallStartedItem,
  callLabel,
  type LoggedCall,
} from './call-log.js';
import { LiveAgents } from './live-agents.js';

interface LiveStateOptions {
  readonly paint: Paint;
  readonly glyphs: Glyphs;
  readonly columns: () => number;
  /** Adds whole lines to the scroll-back. */
  readonly print: (text: string) => void;
  readonly clear: () => void;
  /** Returns true while the lead is not idle. */
  readonly isActive: () => boolean;
  /** Called when the editable line may have changed. */
  readonly onDraftChange: () => void;
  /** Clock in milliseconds. Default: `performance.now()`. */
  readonly now?: () => number;
}

interface RunningCall {
  readonly label: string;
  readonly since: number;
  readonly note: string;
}

interface QueuedPrompt {
  readonly text: string;
  /** Returns false once the agent has read the prompt. */
  readonly isWaiting: () => boolean;
}

export class LiveState extends Observable implements LineDisplay, ActivityDisplay {
  readonly options: LiveStateOptions;
  readonly now: () => number;
  readonly agents: LiveAgents;
  readonly log = new CallLog();
  readonly calls = new Map<string, RunningCall>();
  todos: readonly Todo[] = [];
  /** Prompts that the agent has not read yet. */
  queued: readonly QueuedPrompt[] = [];
  /** Unfinished output line. */
  tail = '';
  view: DraftView | undefined;
  /** Start of the current activity; undefined while idle. */
  activeSince: number | undefined;
  /** True if the tail is text of the model, which is painted as Markdown. */
  private isModelText = false;
  private markdown: MarkdownState = MARKDOWN_START;
  /** Output that waits for the end of a paragraph. */
  private deferred = '';
  private ticking: NodeJS.Timeout | undefined;

  constructor(options: LiveStateOptions) {
    super();
    this.options = options;
    this.now = options.now ?? (() => performance.now());
    this.agents = new LiveAgents(this.now);
  }

  write(text: string): void {
    this.isModelText = false;
    this.append(text);
  }

  textStarted(): void {
    this.markdown = MARKDOWN_START;
  }

  textReceived(text: string): void {
    this.isModelText = true;
    this.append(text);
  }

  freshLine(): void {
    if (this.tail !== '') this.print(`${this.takeFromTail(this.tail.length)}\n`);
    this.printDeferred();
  }

  /** The unfinished output line, painted. */
  get shownTail(): string {
    return this.isModelText ? this.painted(this.tail, false).text : this.tail;
  }

  /** Prints a sent prompt, behind the paragraph that is being written. */
  replace(text: string): void {
    this.deferred += withoutTabs(text);
    if (this.tail === '') this.printDeferred();
  }

  clear(): void {
    this.options.clear();
    this.notifyNow();
  }

  show(view: DraftView | undefined): void {
    this.view = view;
    this.options.onDraftChange();
    this.notifySoon();
  }

  callStarted(item: CallStartedItem): void {
    const label = callLabel(item.description);
    this.calls.set(item.call, { label, since: this.now(), note: '' });
    this.notifyAndTick();
  }

  callProgressed({ call, note }: Extract<FeedItem, { type: 'tool.progress' }>): void {
    const running = this.calls.get(call);
    if (running === undefined) return;
    this.calls.set(call, { ...running, note: oneLine(note, 200) });
    this.notify();
  }

  callEnded(ended: CallEndedItem): void {
    const running = this.calls.get(ended.call);
    this.calls.delete(ended.call);
    const took = running === undefined ? undefined : this.now() - running.since;
    const logged = this.log.add(ended, took);
    this.freshLine();
    this.print(`${finishedLine(logged, this.options)}\n`);
  }

  todosChanged(todos: readonly Todo[]): void {
    this.todos = todos;
    this.notify();
  }

  queue(text: string, isWaiting: () => boolean): void {
    this.queued = [...this.queued, { text: oneLine(text, MAX_QUEUED_LENGTH), isWaiting }];
    this.notify();
  }

  /** Updates agents, calls and queued prompts from a feed item. */
  receive(item: FeedItem): void {
    if (item.type === 'stream.event') return;
    this.queued = this.queued.filter(({ isWaiting }) => isWaiting());
    if (item.type === 'run.ended') this.calls.clear();
    this.agents.receive(item);
    this.notifyAndTick();
  }

  /** Clears the state for another session. */
  reset(): void {
    this.calls.clear();
    this.agents.clear();
    [this.todos, this.queued] = [[], []];
    this.notify();
  }

  close(): void {
    clearInterval(this.ticking);
    this.ticking = undefined;
  }

  /** Notifies the listeners, and keeps notifying every `FRAME_MS` while busy, so that shown durations grow. */
  private notifyAndTick(): void {
    this.notify();
    if (this.ticking !== undefined || !this.isBusy) return;
    this.activeSince = this.now();
    this.ticking = setInterval(() => {
      if (!this.isBusy) {
        this.close();
        this.activeSince = undefined;
      }
      this.notify();
    }, FRAME_MS);
  }

  private get isBusy(): boolean {
    return this.options.isActive() || this.calls.size > 0 || this.agents.size > 0;
  }

  private printDeferred(): void {
    const { deferred } = this;
    this.deferred = '';
    this.isModelText = false;
    if (deferred !== '') this.print(deferred);
  }

  private append(text: string): void {
    this.tail += withoutTabs(text);
    const whole = this.tail.lastIndexOf('\n') + 1;
    if (whole > 0) this.print(this.takeFromTail(whole));
    if (this.tail === '') this.printDeferred();
    // A paragraph wider than the terminal is printed in lines.
    const columns = this.options.columns();
    if (textWidth(this.tail) > columns) {
      const pieces = foldLine(this.tail, columns);
      this.tail = pieces.at(-1) ?? '';
      this.options.print(
        pieces
          .slice(0, -1)
          .map((piece) => `${this.paintedPiece(piece, false)}\n`)
          .join(''),
      );
    }
    this.notify();
  }

  private takeFromTail(length: number): string {
    const text = this.tail.slice(0, length);
    this.tail = this.tail.slice(length);
    return text;
  }

  private print(text: string): void {
    const columns = this.options.columns();
    const ended = text.split('\n');
    const rest = ended.pop() ?? '';
    const lines = ended.map((line) => {
      const pieces = textWidth(line) <= columns ? [line] : foldLine(line, columns);
      return pieces
        .map((piece, at) => `${this.paintedPiece(piece, at === pieces.length - 1)}\n`)
        .join('');
    });
    this.options.print(`${lines.join('')}${rest}`);
    this.notify();
  }

  /** Returns a part of a line as printed to the scroll-back, and advances the Markdown state. */
  private paintedPiece(piece: string, isEnd: boolean): string {
    if (!this.isModelText) return piece.trimEnd();
    const { text, state } = this.painted(piece.trimEnd(), isEnd);
    this.markdown = state;
    return text;
  }

  private painted(piece: string, isEnd: boolean) {
    return paintMarkdown(piece, this.markdown, this.options.paint, isEnd);
  }
}

const MAX_QUEUED_LENGTH = 400;

/** Replaces tabs, because their width depends on the terminal. */
const withoutTabs = (text: string): string => text.replaceAll('\t', '    ');

const finishedLine = (
  { label, report, took }: LoggedCall,
  { paint, glyphs, columns }: Pick<LiveStateOptions, 'paint' | 'glyphs' | 'columns'>,
): string => {
  const { word, remark, lines } = report;
  const isOk = word === 'ok';
  const [first = ''] = lines;
  const more = remark === '' && !isOk ? first : remark;
  const time = took === undefined ? '' : ` ${formatElapsed(took)}`;
  const tail = `${isOk ? '' : ` ${word}`}${more === '' ? '' : `: ${more}`}`;
  const room = columns() - 3 - time.length;
  const sign = isOk ? paint.good(glyphs.done) : paint.alarm(glyphs.failed);
  // A long label is cut to leave room for the outcome.
  const named = cutText(label, Math.max(Math.floor(room / 2), room - textWidth(tail)));
  const text = cutText(oneLine(`${named}${tail}`, 1_000), room);
  return `${sign} ${isOk ? text : paint.alarm(text)}${paint.dim(time)}`;
};

/** `0.4s`, `12s`, `3m 05s`. */
export const formatElapsed = (ms: number): string => {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`;
};
