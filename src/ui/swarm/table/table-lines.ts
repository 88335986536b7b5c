/** The text of every line of a swarm screen, by the slot that it is put into. */
import { cut, fitted } from '../../../terminal/text/text-fit.js';
import { textWidth } from '../../../terminal/text/text-width.js';
import type { Look } from '../../screen/terminal-style.js';
import type { DeskView } from '../command-prompt.js';
import { agentDetail, agentTitle } from '../detail/agent-detail.js';
import type { TranscriptPane } from '../detail/transcript-pane.js';
import { progressLine, titleLine, troubleLine, wishText } from '../head-lines.js';
import { type Hint, hintLine } from '../hint-line.js';
import { SLOT } from '../swarm-frame.js';
import { hintsFor, keysIn, without } from '../swarm-keys.js';
import type { Area, BoardLayout } from '../swarm-layout.js';
import type { SwarmSource } from '../swarm-source.js';
import { totalsOf } from '../swarm-totals.js';
import type { Selected, SwarmTable } from './swarm-table.js';
import { columnsFor, headLine } from './table-columns.js';
import { BoardRows } from './table-rows.js';

export interface LinesOptions {
  readonly source: SwarmSource;
  readonly look: Look;
  readonly title: string;
  readonly hints?: readonly Hint[];
  readonly help?: readonly Hint[];
  line?(width: number): string;
}

type TextOf = (slot: number) => string;

export class BoardLines {
  private readonly board: SwarmTable;
  private readonly transcript: TranscriptPane;
  private readonly options: LinesOptions;
  private readonly rows: BoardRows;

  constructor(board: SwarmTable, transcript: TranscriptPane, options: LinesOptions) {
    this.board = board;
    this.transcript = transcript;
    this.options = options;
    this.rows = new BoardRows(options.look);
  }

  ofBoard(
    layout: BoardLayout,
    isDetailFocused: boolean,
    canSteer: boolean,
    view: DeskView | undefined,
  ): TextOf {
    const { size, tree, detail } = layout;
    const now = this.options.source.now();
    const table = this.table(tree, now, !isDetailFocused);
    const { selected } = this.board;
    const facts = detail === undefined ? [] : this.detail(selected, detail, now, isDetailFocused);
    const above = this.above(size.columns, now);
    const place = isDetailFocused ? 'detail' : 'tree';
    const hints = view?.hints ?? [];
    const below = this.below(size.columns, hints.length > 0 ? hints : this.hints(place, canSteer));
    const divider = this.divider(layout, isDetailFocused);
    return (slot) => {
      if (slot >= SLOT.below) return below[slot - SLOT.below] ?? '';
      if (slot >= SLOT.detail) return facts[slot - SLOT.detail] ?? '';
      if (slot >= SLOT.divider) return divider;
      if (slot >= SLOT.tree) return table[slot - SLOT.tree] ?? ' '.repeat(tree.width);
      return above[slot] ?? '';
    };
  }

  ofTranscript({ size }: BoardLayout, canSteer: boolean, view: DeskView | undefined): TextOf {
    const { look } = this.options;
    const { columns: width, rows } = size;
    const { selected } = this.board;
    const hints = view?.hints ?? [];
    const others = this.options.line === undefined ? [] : [this.options.line(width)];
    const lines = this.transcript.window(width, rows - 3 - others.length);
    const title =
      selected === undefined ? '' : agentTitle(selected.agent, { ...look, width, height: 1 });
    const footer = this.footer(
      hints.length > 0 ? hints : this.hints('transcript', canSteer),
      this.transcriptText(),
      width,
    );
    const below = [...others, footer];
    return (slot) => {
      if (slot >= SLOT.below) return below[slot - SLOT.below] ?? '';
      if (slot >= SLOT.detail) return lines[slot - SLOT.detail] ?? '';
      return slot === 0 ? title : this.rule('', width, false);
    };
  }

  /** A line that stands over others. */
  asked(line: string, width: number): string {
    return this.options.look.paint.strong(fitted(line, width, false).trimEnd());
  }

  private above(width: number, now: number): readonly string[] {
    const { source, look, title } = this.options;
    const paper = { ...look, width, now };
    const trouble = source.trouble?.() ?? null;
    const progress =
      trouble === null
        ? progressLine(totalsOf(this.board.swarms, now), paper)
        : troubleLine(trouble, paper);
    return [titleLine(title, this.board.swarms, paper), progress];
  }

  private table({ width, height }: Area, now: number, isFocused: boolean): readonly string[] {
    const columns = columnsFor(width);
    const rows = this.board
      .window(height)
      .map((row) => this.rows.text(row, columns, now, isFocused));
    const head = fitted(headLine(columns), width, false);
    return [this.options.look.paint.dim(head), ...rows];
  }

  private detail(
    selected: Selected | undefined,
    area: Area,
    now: number,
    isFocused: boolean,
  ): readonly string[] {
    if (selected === undefined) return [];
    const { look } = this.options;
    const facts = agentDetail(selected.swarm, selected.agent, { ...look, ...area, now });
    const room = area.height - facts.length - 1;
    if (room < 1) return facts;
    const lines = this.transcript.window(area.width, room);
    const more = this.transcriptText();
    const name = `transcript${more === '' ? '' : ` · ${more}`}`;
    return [...facts, this.rule(name, area.width, isFocused), ...lines];
  }

  private divider({ detail, size }: BoardLayout, isFocused: boolean): string {
    if (detail?.side === 'below') return this.rule('', size.columns, isFocused);
    const { unicode, paint } = this.options.look;
    return ` ${paint.dim(unicode ? '│' : '|')} `;
  }

  private rule(name: string, width: number, isFocused: boolean): string {
    const { unicode, paint } = this.options.look;
    const stroke = unicode ? '─' : '-';
    const head =
      name === '' ? '' : cut(`${stroke}${stroke} ${isFocused ? '> ' : ''}${name} `, width);
    const line = `${head}${stroke.repeat(Math.max(0, width - textWidth(head)))}`;
    return isFocused ? paint.strong(line) : paint.dim(line);
  }

  private below(width: number, hints: readonly Hint[]): readonly string[] {
    const { line } = this.options;
    const footer = this.footer(hints, this.boardText(), width);
    return line === undefined ? [footer] : [line(width), footer];
  }

  private hints(place: 'tree' | 'detail' | 'transcript', canSteer: boolean): readonly Hint[] {
    const { filter, text } = this.board.wish;
    const isFiltered = filter !== 'all' || text !== '';
    const { hints = [], help = [] } = this.options;
    const taken = keysIn(help);
    const own = hintsFor({ place, canSteer, isFiltered }).flatMap((hint) => without(hint, taken));
    return [...(place === 'transcript' ? [] : hints), ...own];
  }

  /** Keys at the left, and at the right what is shown of all. */
  private footer(hints: readonly Hint[], info: string, width: number): string {
    const { look } = this.options;
    const shown = cut(info, Math.floor(width / 2));
    const room = width - textWidth(shown) - (shown === '' ? 0 : 2);
    const line = hintLine(hints, room, look);
    const keys = hintLine(hints, room, { ...look, paint: PLAIN });
    const space = ' '.repeat(Math.max(0, width - textWidth(keys) - textWidth(shown)));
    return shown === '' ? line : `${line}${space}${look.paint.accent(shown)}`;
  }

  private boardText(): string {
    const { from, to, of } = this.board.part;
    const { shown, all } = this.board.count;
    const part = shown === all ? '' : `${shown} of ${all}`;
    const lines = to - from + 1 >= of ? '' : `lines ${from}-${to} of ${of}`;
    return [wishText(this.board.wish), part, lines].filter((word) => word !== '').join(' · ');
  }

  private transcriptText(): string {
    return this.transcript.isFollowing ? '' : 'End follows';
  }
}

const same = (text: string): string => text;
const PLAIN = {
  dim: same,
  strong: same,
  alarm: same,
  warn: same,
  good: same,
  accent: same,
  lit: same,
};
