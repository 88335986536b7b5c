/**
 * What the session shows below everything that was said: the line that is being said, calls, agents and
 * things to do as they are now, and the prompt. What is finished goes to the scroll-back, once.
 */

import type { Todo } from '../../protocol/agent/todos.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { DraftView } from '../../terminal/input/draft-view.js';
import type { LineDisplay } from '../../terminal/input/line-screen.js';
import type { WorkDisplay } from '../../terminal/output/feed-printer.js';
import {
  MARKDOWN_START,
  type MarkdownState,
  paintMarkdown,
} from '../../terminal/output/markdown-paint.js';
import type { Paint } from '../../terminal/terminal.js';
import { oneLine } from '../../terminal/text/sanitize.js';
import { cut, folded } from '../../terminal/text/text-fit.js';
import { textWidth } from '../../terminal/text/text-width.js';
import type { Signs } from '../screen/glyphs.js';
import { FRAME_MS, Observable } from '../screen/observable.js';
import { AgentStrip } from './agent-status-lines.js';
import { CallLog, type EndedCall, type LoggedCall, labelOf, type StartedCall } from './call-log.js';

export interface BoardOptions {
  readonly paint: Paint;
  readonly signs: Signs;
  readonly columns: () => number;
  /** Whole lines for the scroll-back. */
  readonly print: (text: string) => void;
  readonly clear: () => void;
  /** Something is under way. */
  readonly isActive: () => boolean;
  /** The line that is typed may have changed. */
  readonly drafted: () => void;
  readonly now?: () => number;
}

export interface RunningCall {
  readonly label: string;
  readonly since: number;
  readonly note: string;
}

export interface QueuedPrompt {
  readonly text: string;
  /** False once the agent has read it: another attempt of the same request has not. */
  readonly isWaiting: () => boolean;
}

export class LiveState extends Observable implements LineDisplay, WorkDisplay {
  readonly options: BoardOptions;
  readonly now: () => number;
  readonly agents: AgentStrip;
  readonly log = new CallLog();
  readonly calls = new Map<string, RunningCall>();
  todos: readonly Todo[] = [];
  /** Prompts that the agent has not read yet. */
  queued: readonly QueuedPrompt[] = [];
  /** The end of what is being said: it has no line of its own yet. */
  tail = '';
  view: DraftView | undefined;
  /** Since when something has been under way. */
  activeSince: number | undefined;
  /** The tail is what the agent says, and not about it. */
  private isSpoken = false;
  private speech: MarkdownState = MARKDOWN_START;
  /** What waits for the end of a paragraph. */
  private asides = '';
  private ticking: NodeJS.Timeout | undefined;

  constructor(options: BoardOptions) {
    super();
    this.options = options;
    this.now = options.now ?? (() => performance.now());
    this.agents = new AgentStrip(this.now);
  }

  write(text: string): void {
    this.isSpoken = false;
    this.take(text);
  }

  speechBegins(): void {
    this.speech = MARKDOWN_START;
  }

  says(text: string): void {
    this.isSpoken = true;
    this.take(text);
  }

  freshLine(): void {
    if (this.tail !== '') this.print(`${this.cut(this.tail.length)}\n`);
    this.printAsides();
  }

  /** The line that is being said, as it is painted; it has not ended. */
  get shownTail(): string {
    return this.isSpoken ? this.painted(this.tail, false).text : this.tail;
  }

  /** What is sent while a paragraph is being said stands behind it, not in the middle of it. */
  replace(text: string): void {
    this.asides += withoutTabs(text);
    if (this.tail === '') this.printAsides();
  }

  clear(): void {
    this.options.clear();
    this.changedNow();
  }

  show(view: DraftView | undefined): void {
    this.view = view;
    this.options.drafted();
    this.changedSoon();
  }

  callStarted(item: StartedCall): void {
    const label = labelOf(item.description);
    this.calls.set(item.call, { label, since: this.now(), note: '' });
    this.stir();
  }

  callProgressed({ call, note }: Extract<FeedItem, { type: 'tool.progress' }>): void {
    const running = this.calls.get(call);
    if (running === undefined) return;
    this.calls.set(call, { ...running, note: oneLine(note, 200) });
    this.changed();
  }

  callEnded(ended: EndedCall): void {
    const running = this.calls.get(ended.call);
    this.calls.delete(ended.call);
    const took = running === undefined ? undefined : this.now() - running.since;
    const logged = this.log.add(ended, took);
    this.freshLine();
    this.print(`${finishedLine(logged, this.options)}\n`);
  }

  todosChanged(todos: readonly Todo[]): void {
    this.todos = todos;
    this.changed();
  }

  queue(text: string, isWaiting: () => boolean): void {
    this.queued = [...this.queued, { text: oneLine(text, LONGEST_QUEUED), isWaiting }];
    this.changed();
  }

  /** What the session tells beside what is narrated. */
  hear(item: FeedItem): void {
    if (item.type === 'stream.event') return;
    this.queued = this.queued.filter(({ isWaiting }) => isWaiting());
    if (item.type === 'run.ended') this.calls.clear();
    this.agents.take(item);
    this.stir();
  }

  /** Another session, or none. */
  forget(): void {
    this.calls.clear();
    this.agents.clear();
    [this.todos, this.queued] = [[], []];
    this.changed();
  }

  close(): void {
    clearInterval(this.ticking);
    this.ticking = undefined;
  }

  /** Time goes on while something is under way, and costs nothing while nothing is. */
  private stir(): void {
    this.changed();
    if (this.ticking !== undefined || !this.isBusy) return;
    this.activeSince = this.now();
    this.ticking = setInterval(() => {
      if (!this.isBusy) {
        this.close();
        this.activeSince = undefined;
      }
      this.changed();
    }, FRAME_MS);
  }

  private get isBusy(): boolean {
    return this.options.isActive() || this.calls.size > 0 || this.agents.size > 0;
  }

  private printAsides(): void {
    const { asides } = this;
    this.asides = '';
    this.isSpoken = false;
    if (asides !== '') this.print(asides);
  }

  private take(text: string): void {
    this.tail += withoutTabs(text);
    const whole = this.tail.lastIndexOf('\n') + 1;
    if (whole > 0) this.print(this.cut(whole));
    if (this.tail === '') this.printAsides();
    // A paragraph that has grown over the width is let go in lines.
    const columns = this.options.columns();
    if (textWidth(this.tail) > columns) {
      const pieces = folded(this.tail, columns);
      this.tail = pieces.at(-1) ?? '';
      this.options.print(
        pieces
          .slice(0, -1)
          .map((piece) => `${this.said(piece, false)}\n`)
          .join(''),
      );
    }
    this.changed();
  }

  private cut(length: number): string {
    const text = this.tail.slice(0, length);
    this.tail = this.tail.slice(length);
    return text;
  }

  private print(text: string): void {
    const columns = this.options.columns();
    const ended = text.split('\n');
    const rest = ended.pop() ?? '';
    const lines = ended.map((line) => {
      const pieces = textWidth(line) <= columns ? [line] : folded(line, columns);
      return pieces.map((piece, at) => `${this.said(piece, at === pieces.length - 1)}\n`).join('');
    });
    this.options.print(`${lines.join('')}${rest}`);
    this.changed();
  }

  /** A part of a line, or the end of one, as it goes to the scroll-back. */
  private said(piece: string, isEnd: boolean): string {
    if (!this.isSpoken) return piece.trimEnd();
    const { text, state } = this.painted(piece.trimEnd(), isEnd);
    this.speech = state;
    return text;
  }

  private painted(piece: string, isEnd: boolean) {
    return paintMarkdown(piece, this.speech, this.options.paint, isEnd);
  }
}

/** Of a prompt that waits, as much as is shown. */
const LONGEST_QUEUED = 400;

/** How far a tab goes only the terminal knows. */
const withoutTabs = (text: string): string => text.replaceAll('\t', '    ');

const finishedLine = (
  { label, report, took }: LoggedCall,
  { paint, signs, columns }: Pick<BoardOptions, 'paint' | 'signs' | 'columns'>,
): string => {
  const { word, remark, lines } = report;
  const isFine = word === 'ok';
  const [first = ''] = lines;
  const more = remark === '' && !isFine ? first : remark;
  const time = took === undefined ? '' : ` ${secondsOf(took)}`;
  const tail = `${isFine ? '' : ` ${word}`}${more === '' ? '' : `: ${more}`}`;
  const room = columns() - 3 - time.length;
  const sign = isFine ? paint.good(signs.done) : paint.alarm(signs.failed);
  // A long command leaves room for how it went.
  const named = cut(label, Math.max(Math.floor(room / 2), room - textWidth(tail)));
  const text = cut(oneLine(`${named}${tail}`, 1_000), room);
  return `${sign} ${isFine ? text : paint.alarm(text)}${paint.dim(time)}`;
};

/** `0.4s`, `12s`, `3m 05s`. */
export const secondsOf = (ms: number): string => {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`;
};
