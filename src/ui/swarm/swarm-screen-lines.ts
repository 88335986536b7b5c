/** Swarm screen lines: the text of every row slot of a swarm screen. */
import { cutText, fitText } from '../../terminal/text/fit-text.js';
import { textWidth } from '../../terminal/text/text-width.js';
import type { TerminalStyle } from '../screen/terminal-style.js';
import type { PromptView } from './command-prompt.js';
import { agentDetail, agentTitle } from './detail/agent-detail.js';
import type { TranscriptPane } from './detail/transcript-pane.js';
import { headLines } from './head-lines.js';
import { type Hint, hintLine } from './hint-line.js';
import { keysOfHints, swarmHints, withoutKeys } from './swarm-action.js';
import type { SwarmDataSource } from './swarm-data-source.js';
import { FRAME_SLOT } from './swarm-frame.js';
import type { LayoutArea, SwarmLayout } from './swarm-layout.js';
import { sortAndFilterText } from './table/sort-and-filter.js';
import type { SelectedAgent, SwarmTable } from './table/swarm-table.js';
import { tableColumns, tableHead } from './table/table-columns.js';
import { TableRows } from './table/table-rows.js';

interface SwarmScreenLinesOptions {
  readonly source: SwarmDataSource;
  readonly style: TerminalStyle;
  readonly title: string;
  readonly hints?: readonly Hint[];
  readonly help?: readonly Hint[];
  line?(width: number): string;
}

type TextOf = (slot: number) => string;

export class SwarmScreenLines {
  private readonly table: SwarmTable;
  private readonly transcript: TranscriptPane;
  private readonly options: SwarmScreenLinesOptions;
  private readonly rows: TableRows;

  constructor(table: SwarmTable, transcript: TranscriptPane, options: SwarmScreenLinesOptions) {
    this.table = table;
    this.transcript = transcript;
    this.options = options;
    this.rows = new TableRows(options.style);
  }

  ofTree(
    layout: SwarmLayout,
    isDetailFocused: boolean,
    canSteer: boolean,
    view: PromptView | undefined,
  ): TextOf {
    const { size, tree, detail } = layout;
    const now = this.options.source.now();
    const table = this.tableText(tree, now, !isDetailFocused);
    const { selected } = this.table;
    const facts = detail === undefined ? [] : this.detail(selected, detail, now, isDetailFocused);
    const above = this.above(size.columns, now);
    const focus = isDetailFocused ? 'detail' : 'tree';
    const hints = view?.hints ?? [];
    const below = this.below(size.columns, hints.length > 0 ? hints : this.hints(focus, canSteer));
    const divider = this.divider(layout, isDetailFocused);
    return (slot) => {
      if (slot >= FRAME_SLOT.below) return below[slot - FRAME_SLOT.below] ?? '';
      if (slot >= FRAME_SLOT.detail) return facts[slot - FRAME_SLOT.detail] ?? '';
      if (slot >= FRAME_SLOT.divider) return divider;
      if (slot >= FRAME_SLOT.tree) return table[slot - FRAME_SLOT.tree] ?? ' '.repeat(tree.width);
      return above[slot] ?? '';
    };
  }

  ofTranscript({ size }: SwarmLayout, canSteer: boolean, view: PromptView | undefined): TextOf {
    const { style } = this.options;
    const { columns: width, rows } = size;
    const { selected } = this.table;
    const hints = view?.hints ?? [];
    const others = this.options.line === undefined ? [] : [this.options.line(width)];
    const lines = this.transcript.window(width, rows - 3 - others.length);
    const title =
      selected === undefined ? '' : agentTitle(selected.agent, { ...style, width, height: 1 });
    const footer = this.footer(
      hints.length > 0 ? hints : this.hints('transcript', canSteer),
      this.transcriptText(),
      width,
    );
    const below = [...others, footer];
    return (slot) => {
      if (slot >= FRAME_SLOT.below) return below[slot - FRAME_SLOT.below] ?? '';
      if (slot >= FRAME_SLOT.detail) return lines[slot - FRAME_SLOT.detail] ?? '';
      return slot === 0 ? title : this.rule('', width, false);
    };
  }

  /** Formats a line of the command prompt. */
  promptLine(line: string, width: number): string {
    return this.options.style.paint.strong(fitText(line, width, false).trimEnd());
  }

  private above(width: number, now: number): readonly string[] {
    const { source, style, title } = this.options;
    const problem = source.problem?.() ?? null;
    return headLines(title, this.table.swarms, problem, { ...style, width, now });
  }

  private tableText(
    { width, height }: LayoutArea,
    now: number,
    isFocused: boolean,
  ): readonly string[] {
    const columns = tableColumns(width);
    const rows = this.table
      .window(height)
      .map((row) => this.rows.text(row, columns, now, isFocused));
    const head = fitText(tableHead(columns), width, false);
    return [this.options.style.paint.dim(head), ...rows];
  }

  private detail(
    selected: SelectedAgent | undefined,
    area: LayoutArea,
    now: number,
    isFocused: boolean,
  ): readonly string[] {
    if (selected === undefined) return [];
    const { style } = this.options;
    const facts = agentDetail(selected.swarm, selected.agent, { ...style, ...area, now });
    const room = area.height - facts.length - 1;
    if (room < 1) return facts;
    const lines = this.transcript.window(area.width, room);
    const more = this.transcriptText();
    const name = `transcript${more === '' ? '' : ` · ${more}`}`;
    return [...facts, this.rule(name, area.width, isFocused), ...lines];
  }

  private divider({ detail, size }: SwarmLayout, isFocused: boolean): string {
    if (detail?.side === 'below') return this.rule('', size.columns, isFocused);
    const { unicode, paint } = this.options.style;
    return ` ${paint.dim(unicode ? '│' : '|')} `;
  }

  private rule(name: string, width: number, isFocused: boolean): string {
    const { unicode, paint } = this.options.style;
    const stroke = unicode ? '─' : '-';
    const head =
      name === '' ? '' : cutText(`${stroke}${stroke} ${isFocused ? '> ' : ''}${name} `, width);
    const line = `${head}${stroke.repeat(Math.max(0, width - textWidth(head)))}`;
    return isFocused ? paint.strong(line) : paint.dim(line);
  }

  private below(width: number, hints: readonly Hint[]): readonly string[] {
    const { line } = this.options;
    const footer = this.footer(hints, this.treeText(), width);
    return line === undefined ? [footer] : [line(width), footer];
  }

  private hints(focus: 'tree' | 'detail' | 'transcript', canSteer: boolean): readonly Hint[] {
    const { filter, text } = this.table.sortAndFilter;
    const isFiltered = filter !== 'all' || text !== '';
    const { hints = [], help = [] } = this.options;
    const taken = keysOfHints(help);
    const own = swarmHints({ focus, canSteer, isFiltered }).flatMap((hint) =>
      withoutKeys(hint, taken),
    );
    return [...(focus === 'transcript' ? [] : hints), ...own];
  }

  /** Returns the key hints at the left, and `info` at the right. */
  private footer(hints: readonly Hint[], info: string, width: number): string {
    const { style } = this.options;
    const shown = cutText(info, Math.floor(width / 2));
    const room = width - textWidth(shown) - (shown === '' ? 0 : 2);
    const line = hintLine(hints, room, style);
    const keys = hintLine(hints, room, { ...style, paint: PLAIN });
    const space = ' '.repeat(Math.max(0, width - textWidth(keys) - textWidth(shown)));
    return shown === '' ? line : `${line}${space}${style.paint.accent(shown)}`;
  }

  private treeText(): string {
    const { from, to, of } = this.table.part;
    const { shown, all } = this.table.count;
    const part = shown === all ? '' : `${shown} of ${all}`;
    const lines = to - from + 1 >= of ? '' : `lines ${from}-${to} of ${of}`;
    return [sortAndFilterText(this.table.sortAndFilter), part, lines]
      .filter((word) => word !== '')
      .join(' · ');
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
  inverse: same,
};
