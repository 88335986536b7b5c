/** The lines of a board as text. Those of agents without news are the very same strings as before. */

import { ageText, whoText } from '../../../terminal/format/format-agent.js';
import { swarmHead } from '../../../terminal/output/swarm-text.js';
import { money } from '../../../terminal/text/format-numbers.js';
import { shortAge } from '../../../terminal/text/format-time.js';
import { cut, fitted } from '../../../terminal/text/text-fit.js';
import { textWidth } from '../../../terminal/text/text-width.js';
import { inAscii } from '../../../terminal/text/tree-branches.js';
import type { AgentView } from '../../../views/swarm/swarm-view.js';
import type { Look } from '../../screen/terminal-style.js';
import { type AgentGroup, groupOf, paintGroup, signOf } from '../agent-group.js';
import type { BoardRow } from './swarm-table.js';
import {
  type BoardColumns,
  type Column,
  cellText,
  fittedCell,
  lineOf,
  MARK_WIDTH,
} from './table-columns.js';

interface Drawn {
  readonly of: string;
  readonly text: string;
}

export class BoardRows {
  private readonly look: Look;
  private readonly drawn = new WeakMap<AgentView, Drawn>();

  constructor(look: Look) {
    this.look = look;
  }

  /** `isFocused`: keys move the selection. */
  text(row: BoardRow, columns: BoardColumns, now: number, isFocused: boolean): string {
    const { view } = row;
    if (view === undefined) return this.swarmLine(row, columns);
    // What of a line does not come from the agent alone.
    const of = [
      columns.width,
      row.branch,
      row.shortId,
      ageText(view, now),
      shortAge(now - view.lastActiveAt),
      row.isSelected,
      isFocused,
      row.isPassedBy,
      ...(row.hidden.length === 0 ? [] : [row.hidden.length, belowText(row), costOf(row)]),
    ].join('\n');
    const before = this.drawn.get(view);
    if (before?.of === of) return before.text;
    const text = this.agentLine(row, view, columns, now, isFocused);
    this.drawn.set(view, { of, text });
    return text;
  }

  private swarmLine({ swarm }: BoardRow, { width }: BoardColumns): string {
    return this.look.paint.strong(fitted(cut(swarmHead(swarm), width), width, false));
  }

  private agentLine(
    row: BoardRow,
    view: AgentView,
    columns: BoardColumns,
    now: number,
    isFocused: boolean,
  ): string {
    const { paint } = this.look;
    const group = groupOf(view);
    const isQuiet = row.isPassedBy || group === 'done' || group === 'idle';
    const isPlain = row.isSelected || isQuiet;
    const line = lineOf(columns, (column, width) => {
      const cell = this.cell(column, width, row, view, now);
      return column === 'state' && !isPlain ? paintGroup(group, paint)(cell) : cell;
    });
    const mark = row.isSelected ? (isFocused ? '> ' : '- ') : ' '.repeat(MARK_WIDTH);
    if (row.isSelected && isFocused) return paint.lit(`${mark}${line}`);
    if (row.isSelected) return paint.strong(`${mark}${line}`);
    return isQuiet ? paint.dim(`${mark}${line}`) : `${mark}${line}`;
  }

  private cell(column: Column, width: number, row: BoardRow, view: AgentView, now: number): string {
    if (column === 'agent') return this.agentCell(row, view, width);
    const text = cellText(column, view, now);
    if (column === 'state') return this.stateCell(groupOf(view), text, width);
    if (row.hidden.length === 0) return fittedCell(column, text, width);
    if (column === 'cost') return fittedCell(column, costOf(row), width);
    if (column !== 'doing') return fittedCell(column, text, width);
    return fitted(`${belowText(row)}${text === '' ? '' : `; ${text}`}`, width, false);
  }

  private stateCell(group: AgentGroup, text: string, width: number): string {
    return fitted(`${signOf(group, this.look.unicode)} ${text}`, width, false);
  }

  /** How many are folded away stays to be seen, however long the name is. */
  private agentCell(row: BoardRow, view: AgentView, width: number): string {
    const { unicode } = this.look;
    const isFolded = row.hidden.length > 0;
    const branch = unicode ? row.branch : inAscii(row.branch);
    const sign = isFolded ? (unicode ? '▸' : '+') : '';
    const many = isFolded ? ` +${row.hidden.length}` : '';
    const who = cut(`${branch}${sign}${whoText(view, row.shortId)}`, width - textWidth(many));
    return fitted(`${who}${many}`, width, false);
  }
}

/** With those that are folded away. */
const costOf = ({ view, hidden }: BoardRow): string => {
  const costs = [view, ...hidden].map((agent) => agent?.costUsd ?? null);
  return money(costs.reduce((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0));
};

const TOLD: readonly AgentGroup[] = ['asking', 'failed', 'running', 'waiting'];
const SAID: Readonly<Partial<Record<AgentGroup, string>>> = { asking: 'asks' };

/** `12 below: 1 asks, 3 running`. */
const belowText = ({ hidden }: BoardRow): string => {
  const counts = new Map<AgentGroup, number>();
  for (const agent of hidden) {
    const group = groupOf(agent);
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const parts = TOLD.flatMap((group) => {
    const many = counts.get(group) ?? 0;
    return many === 0 ? [] : [`${many} ${(many === 1 ? SAID[group] : undefined) ?? group}`];
  });
  return `${hidden.length} below${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
};
