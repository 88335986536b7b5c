/** Table rows as text. Unchanged agents reuse their last string. */

import { asciiBranch } from '../../../terminal/charts/tree-branches.js';
import { formatAgent, formatAgentAge } from '../../../terminal/format/format-agent.js';
import { swarmHead } from '../../../terminal/output/swarm-text.js';
import { cutText, fitText } from '../../../terminal/text/fit-text.js';
import { formatMoney } from '../../../terminal/text/format-number.js';
import { formatAge } from '../../../terminal/text/format-time.js';
import { textWidth } from '../../../terminal/text/text-width.js';
import type { AgentView } from '../../../views/swarm/swarm-view.js';
import type { TerminalStyle } from '../../screen/terminal-style.js';
import { type AgentGroup, groupOf, groupSign, paintGroup } from './agent-group.js';
import type { SwarmTableRow } from './swarm-table.js';
import {
  cellText,
  fitCell,
  MARK_WIDTH,
  type TableColumn,
  type TableColumns,
  tableLine,
} from './table-columns.js';

interface Drawn {
  readonly cacheKey: string;
  readonly text: string;
}

export class TableRows {
  private readonly style: TerminalStyle;
  private readonly drawn = new WeakMap<AgentView, Drawn>();

  constructor(style: TerminalStyle) {
    this.style = style;
  }

  /** `isFocused`: true if the table has the keys. */
  text(row: SwarmTableRow, columns: TableColumns, now: number, isFocused: boolean): string {
    const { view } = row;
    if (view === undefined) return this.swarmLine(row, columns);
    // All inputs of the line except the agent itself.
    const cacheKey = [
      columns.width,
      row.branch,
      row.shortId,
      formatAgentAge(view, now),
      formatAge(now - view.lastActiveAt),
      row.isSelected,
      isFocused,
      row.isContext,
      ...(row.hidden.length === 0 ? [] : [row.hidden.length, belowText(row), costOf(row)]),
    ].join('\n');
    const before = this.drawn.get(view);
    if (before?.cacheKey === cacheKey) return before.text;
    const text = this.agentLine(row, view, columns, now, isFocused);
    this.drawn.set(view, { cacheKey, text });
    return text;
  }

  private swarmLine({ swarm }: SwarmTableRow, { width }: TableColumns): string {
    return this.style.paint.strong(fitText(cutText(swarmHead(swarm), width), width, false));
  }

  private agentLine(
    row: SwarmTableRow,
    view: AgentView,
    columns: TableColumns,
    now: number,
    isFocused: boolean,
  ): string {
    const { paint } = this.style;
    const group = groupOf(view);
    const isQuiet = row.isContext || group === 'done' || group === 'idle';
    const isPlain = row.isSelected || isQuiet;
    const line = tableLine(columns, (column, width) => {
      const cell = this.cell(column, width, row, view, now);
      return column === 'state' && !isPlain ? paintGroup(group, paint)(cell) : cell;
    });
    const mark = row.isSelected ? (isFocused ? '> ' : '- ') : ' '.repeat(MARK_WIDTH);
    if (row.isSelected && isFocused) return paint.inverse(`${mark}${line}`);
    if (row.isSelected) return paint.strong(`${mark}${line}`);
    return isQuiet ? paint.dim(`${mark}${line}`) : `${mark}${line}`;
  }

  private cell(
    column: TableColumn,
    width: number,
    row: SwarmTableRow,
    view: AgentView,
    now: number,
  ): string {
    if (column === 'agent') return this.agentCell(row, view, width);
    const text = cellText(column, view, now);
    if (column === 'state') return this.stateCell(groupOf(view), text, width);
    if (row.hidden.length === 0) return fitCell(column, text, width);
    if (column === 'cost') return fitCell(column, costOf(row), width);
    if (column !== 'doing') return fitCell(column, text, width);
    return fitText(`${belowText(row)}${text === '' ? '' : `; ${text}`}`, width, false);
  }

  private stateCell(group: AgentGroup, text: string, width: number): string {
    return fitText(`${groupSign(group, this.style.unicode)} ${text}`, width, false);
  }

  /** A long name is cut, so that the number of folded agents stays visible. */
  private agentCell(row: SwarmTableRow, view: AgentView, width: number): string {
    const { unicode } = this.style;
    const isFolded = row.hidden.length > 0;
    const branch = unicode ? row.branch : asciiBranch(row.branch);
    const sign = isFolded ? (unicode ? '▸' : '+') : '';
    const hiddenCount = isFolded ? ` +${row.hidden.length}` : '';
    const label = cutText(
      `${branch}${sign}${formatAgent(view, row.shortId)}`,
      width - textWidth(hiddenCount),
    );
    return fitText(`${label}${hiddenCount}`, width, false);
  }
}

/** Returns the cost of the agent and its folded descendants. */
const costOf = ({ view, hidden }: SwarmTableRow): string => {
  const costs = [view, ...hidden].map((agent) => agent?.costUsd ?? null);
  return formatMoney(
    costs.reduce((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0),
  );
};

const COUNTED_GROUPS: readonly AgentGroup[] = ['asking', 'failed', 'running', 'waiting'];
const SINGULAR: Readonly<Partial<Record<AgentGroup, string>>> = { asking: 'asks' };

/** `12 below: 1 asks, 3 running`. */
const belowText = ({ hidden }: SwarmTableRow): string => {
  const counts = new Map<AgentGroup, number>();
  for (const agent of hidden) {
    const group = groupOf(agent);
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const parts = COUNTED_GROUPS.flatMap((group) => {
    const count = counts.get(group) ?? 0;
    return count === 0 ? [] : [`${count} ${(count === 1 ? SINGULAR[group] : undefined) ?? group}`];
  });
  return `${hidden.length} below${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
};
