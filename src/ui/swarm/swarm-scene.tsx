/**
 * The swarm screen: a tree of agents, one of them in detail, and keys to look and to steer. It knows no
 * store: whoever opens it says where swarms come from, hands it the keys, and takes it away.
 */
import type { ReactNode } from 'react';
import { whoText } from '../../terminal/format/format-agent.js';
import type { Key } from '../../terminal/input/line-editor.js';
import { keyName } from '../screen/key-name.js';
import type { Cursor, Size } from '../screen/painter.js';
import { fillSlots } from '../screen/row-slots.js';
import type { Scene } from '../screen/screen.js';
import type { Look } from '../screen/terminal-style.js';
import { CommandPrompt, type Steered } from './command-prompt.js';
import { TranscriptPane } from './detail/transcript-pane.js';
import type { Hint } from './hint-line.js';
import { SearchLine } from './search-line.js';
import { BoardFrame, HelpFrame, TranscriptFrame } from './swarm-frame.js';
import { actionOf, type BoardAction, HELP, keysIn, without } from './swarm-keys.js';
import { type BoardLayout, layoutOf } from './swarm-layout.js';
import type { SwarmSource } from './swarm-source.js';
import { SwarmTable } from './table/swarm-table.js';
import { BoardLines } from './table/table-lines.js';

export interface SwarmSceneOptions {
  readonly source: SwarmSource;
  readonly look: Look;
  /** What it is called, in its first line. */
  readonly title: string;
  leave(): void;
  /** Keys of whoever opened it come first: true for one that was theirs. */
  press?(key: Key): boolean;
  readonly hints?: readonly Hint[];
  /** What is told of their keys, ahead of those that are the scene's. */
  readonly help?: readonly Hint[];
  /** A line of theirs above the last one. */
  line?(width: number): string;
}

const ARRANGING: Readonly<Partial<Record<BoardAction, (board: SwarmTable) => void>>> = {
  fold: (board) => board.fold(),
  unfold: (board) => board.unfold(),
  toggle: (board) => board.toggle(),
  'toggle-all': (board) => board.toggleAll(),
  order: (board) => board.cycleOrder(),
  reverse: (board) => board.reverse(),
  filter: (board) => board.cycleFilter(),
};

type Scrolled = Pick<SwarmTable, 'move' | 'page' | 'home' | 'end'>;

const SCROLLING: Readonly<Partial<Record<BoardAction, (view: Scrolled) => void>>> = {
  up: (view) => view.move(-1),
  down: (view) => view.move(1),
  'page-up': (view) => view.page(-1),
  'page-down': (view) => view.page(1),
  home: (view) => view.home(),
  end: (view) => view.end(),
};

type Place = 'tree' | 'detail' | 'transcript' | 'help';

export class SwarmScene implements Scene {
  readonly shown: SwarmTable;
  private readonly options: SwarmSceneOptions;
  private readonly desk: CommandPrompt;
  private readonly search: SearchLine;
  private readonly transcript: TranscriptPane;
  private readonly lines: BoardLines;
  private place: Place = 'tree';
  /** Where help was asked for. */
  private before: Place = 'tree';
  private wantsDetail: boolean | undefined;
  private layout: BoardLayout | undefined;
  private drawn: { readonly key: string; readonly node: ReactNode } | undefined;
  private typedAt: Cursor | undefined;

  constructor(options: SwarmSceneOptions) {
    this.options = options;
    const { source, look } = options;
    this.shown = new SwarmTable(source, () => this.close());
    const changed = () => this.shown.changed();
    this.desk = new CommandPrompt(source.steering, changed);
    this.search = new SearchLine(this.shown);
    this.transcript = new TranscriptPane(source, look, changed);
    this.lines = new BoardLines(this.shown, this.transcript, options);
  }

  /** A sentence that is shown for a while. */
  say(sentence: string): void {
    this.desk.say(sentence);
  }

  draw(size: Size): ReactNode {
    const more = this.options.line === undefined ? 0 : 1;
    const layout = layoutOf(size, this.wantsDetail, more);
    this.layout = layout;
    const key = [size.columns, size.rows, this.wantsDetail, this.place].join();
    if (this.drawn?.key !== key) this.drawn = { key, node: this.frame(layout, 1 + more) };
    return this.drawn.node;
  }

  fill(lines: readonly string[]): readonly string[] {
    const { layout } = this;
    if (layout === undefined || this.place === 'help') return lines;
    const { columns: width } = layout.size;
    // First: whoever is selected may be gone.
    this.shown.look(false);
    this.followSelected(layout);
    const view = this.search.view(width) ?? this.desk.view(width);
    const isOpen = this.place === 'transcript';
    const textOf = isOpen
      ? this.lines.ofTranscript(layout, this.desk.canSteer, view)
      : this.lines.ofBoard(layout, this.place === 'detail', this.desk.canSteer, view);
    const filled = [...fillSlots(lines, textOf)];
    // What is asked and said stands over the last lines: nothing else moves.
    const asked = view?.lines ?? [];
    const from = Math.max(0, filled.length - 1 - asked.length);
    filled.splice(from, asked.length, ...asked.map((line) => this.lines.asked(line, width)));
    const { cursor } = view ?? {};
    this.typedAt = cursor && { row: from + cursor.row, column: cursor.column };
    return filled;
  }

  cursor(): Cursor | undefined {
    return this.place === 'help' ? undefined : this.typedAt;
  }

  paste(text: string): void {
    this.search.paste(text);
    this.desk.paste(text);
    this.shown.changedNow();
  }

  press(key: Key): void {
    if (this.place === 'help') this.place = this.before;
    else if (this.search.isTyping) this.search.press(key);
    else if (this.desk.isAsking) this.desk.press(key);
    else if (this.options.press?.(key) !== true) this.act(actionOf(keyName(key)));
    this.shown.changedNow();
  }

  private act(action: BoardAction | undefined): void {
    switch (action) {
      case 'message':
      case 'stop':
      case 'resume':
        this.steer(action);
        break;
      case 'open':
        if (this.shown.selected !== undefined) this.place = 'transcript';
        break;
      case 'help':
        [this.before, this.place] = [this.place, 'help'];
        break;
      case 'back':
      case 'leave':
        this.leave(action);
        break;
      case undefined:
        break;
      default:
        if (action in SCROLLING) this.scroll(action);
        else if (this.place !== 'transcript') this.arrange(action);
    }
  }

  private arrange(action: BoardAction): void {
    const { shown: board } = this;
    switch (action) {
      case 'detail':
        this.wantsDetail = this.layout?.detail === undefined;
        this.place = 'tree';
        break;
      case 'focus':
        // What was not shown is, and what is shown has the keys.
        if (this.layout?.detail === undefined) this.wantsDetail = true;
        this.place = this.place === 'detail' ? 'tree' : 'detail';
        break;
      case 'search':
        this.search.begin();
        break;
      default:
        ARRANGING[action]?.(board);
    }
  }

  private scroll(action: BoardAction): void {
    const view = this.place === 'tree' ? this.shown : this.transcript;
    SCROLLING[action]?.(view);
  }

  private steer(action: 'message' | 'stop' | 'resume'): void {
    const to = this.steered();
    if (to === undefined) return;
    if (action === 'message') this.desk.write(to);
    else if (action === 'stop') this.desk.askToStop(to);
    else this.desk.resume(to);
  }

  private steered(): Steered | undefined {
    const { selected } = this.shown;
    if (selected === undefined) return undefined;
    const { swarm, agent, shortId } = selected;
    const below = new Set([agent.id]);
    // Each comes behind the one that it works for.
    for (const { id, parent } of swarm.agents) if (below.has(parent ?? '')) below.add(id);
    const called = whoText(agent, shortId);
    return { session: swarm.session.id, id: agent.id, called, below: below.size - 1 };
  }

  /** Esc takes back one thing after the other; `q` leaves, from a transcript to the tree. */
  private leave(action: 'back' | 'leave'): void {
    const { filter, text } = this.shown.wish;
    if (this.place === 'transcript') this.place = 'tree';
    else if (action === 'leave') this.options.leave();
    else if (this.place === 'detail') this.place = 'tree';
    else if (filter !== 'all' || text !== '') this.shown.showAll();
    else this.options.leave();
  }

  /** A transcript is read while it can be seen. */
  private followSelected({ detail }: BoardLayout): void {
    const isOpen = this.place === 'transcript';
    const { selected } = this.shown;
    const isSeen = (isOpen || detail !== undefined) && selected !== undefined;
    const agent = isSeen
      ? { session: selected.swarm.session.id, id: selected.agent.id }
      : undefined;
    this.transcript.show(agent, isOpen);
  }

  private close(): void {
    this.desk.close();
    this.transcript.close();
  }

  /** A key that is somebody else's is told of once. */
  private help(): readonly Hint[] {
    const others = this.options.help ?? [];
    const taken = keysIn(others);
    const own = HELP.filter(({ isSteering }) => this.desk.canSteer || isSteering !== true);
    return [...others, ...own.flatMap((line) => without(line, taken))];
  }

  private frame(layout: BoardLayout, below: number): ReactNode {
    const { size } = layout;
    const { look } = this.options;
    switch (this.place) {
      case 'help':
        return <HelpFrame size={size} look={look} lines={this.help()} />;
      case 'transcript':
        return <TranscriptFrame size={size} below={below} />;
      default:
        return <BoardFrame layout={layout} below={below} />;
    }
  }
}
