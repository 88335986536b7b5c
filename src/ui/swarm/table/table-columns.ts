/** Table columns of the swarm screen: as many as fit, with fixed widths. */

import {
  formatAgentActivity,
  formatAgentAge,
  formatAgentState,
} from '../../../terminal/format/format-agent.js';
import { fitText } from '../../../terminal/text/fit-text.js';
import {
  formatMoney,
  formatPercent,
  formatShortNumber,
} from '../../../terminal/text/format-number.js';
import { formatAge } from '../../../terminal/text/format-time.js';
import type { AgentView } from '../../../views/swarm/swarm-view.js';
import { totalTokens } from './sort-and-filter.js';

export type TableColumn =
  | 'agent'
  | 'state'
  | 'turns'
  | 'tokens'
  | 'cache'
  | 'cost'
  | 'age'
  | 'last'
  | 'doing';

export interface TableColumns {
  readonly width: number;
  /** Column widths from left to right. */
  readonly widths: ReadonlyMap<TableColumn, number>;
}

const COLUMN_HEADS: Readonly<Record<TableColumn, string>> = {
  agent: 'AGENT',
  state: 'STATE',
  turns: 'TURNS',
  tokens: 'TOKENS',
  cache: 'CACHED',
  cost: 'COST',
  age: 'AGE',
  last: 'LAST',
  doing: 'DOING',
};

const RIGHT: ReadonlySet<TableColumn> = new Set([
  'turns',
  'tokens',
  'cache',
  'cost',
  'age',
  'last',
]);
const FIGURES: readonly (readonly [TableColumn, number])[] = [
  ['turns', 5],
  ['tokens', 6],
  ['cache', 6],
  ['cost', 8],
  ['age', 4],
  ['last', 4],
];
/** Figure columns by importance: on a narrow screen the last are dropped. */
const BY_PRIORITY: readonly TableColumn[] = ['cost', 'age', 'last', 'turns', 'tokens', 'cache'];
const COLUMN_GAP = '  ';
/** Width of the selection mark in front of a row. */
export const MARK_WIDTH = 2;
/** Minimum widths on a narrow and on a wide screen. */
const MIN_DOING_WIDTHS = [20, 24] as const;
const MIN_AGENT_WIDTHS = [20, 26] as const;
const MAX_AGENT_WIDTH = 36;
/** Width of a sign and the longest state name. On a narrow screen the name is cut. */
const STATE_WIDTH = 21;
const SHORT_STATE_WIDTH = 16;
const ROOMY = 100;
const ROOMY_DOING = 90;

/** The widths depend on the screen only and not on the cells, so that columns never move. */
export const tableColumns = (width: number): TableColumns => {
  const leastAgent = MIN_AGENT_WIDTHS[width < ROOMY_DOING ? 0 : 1];
  const agent = Math.min(MAX_AGENT_WIDTH, Math.max(leastAgent, Math.floor(width * 0.22)));
  const state = width < ROOMY ? SHORT_STATE_WIDTH : STATE_WIDTH;
  const figures = new Map(FIGURES);
  const least = MIN_DOING_WIDTHS[width < ROOMY_DOING ? 0 : 1];
  let left = width - MARK_WIDTH - agent - state - 2 * COLUMN_GAP.length;
  const taken = new Set<TableColumn>();
  for (const column of BY_PRIORITY) {
    const needed = (figures.get(column) ?? 0) + COLUMN_GAP.length;
    if (left - needed < least) break;
    taken.add(column);
    left -= needed;
  }
  const shown = FIGURES.filter(([column]) => taken.has(column));
  return {
    width,
    widths: new Map([['agent', agent], ['state', state], ...shown, ['doing', Math.max(0, left)]]),
  };
};

/** Joins the cells of the shown columns. */
export const tableLine = (
  { widths }: TableColumns,
  cellOf: (column: TableColumn, width: number) => string,
): string => [...widths].map(([column, width]) => cellOf(column, width)).join(COLUMN_GAP);

export const fitCell = (column: TableColumn, text: string, width: number): string =>
  fitText(text, width, RIGHT.has(column));

export const tableHead = (columns: TableColumns): string =>
  ' '.repeat(MARK_WIDTH) +
  tableLine(columns, (column, width) => fitCell(column, COLUMN_HEADS[column], width)).trimEnd();

/** Returns the text of an agent's cell; '' for the agent column. */
export const cellText = (column: TableColumn, agent: AgentView, now: number): string => {
  switch (column) {
    case 'state':
      return formatAgentState(agent);
    case 'turns':
      return String(agent.turns);
    case 'tokens':
      return formatShortNumber(totalTokens(agent));
    case 'cache':
      return agent.cacheReadPercent === null ? '-' : formatPercent(agent.cacheReadPercent);
    case 'cost':
      return formatMoney(agent.costUsd);
    case 'age':
      return formatAgentAge(agent, now);
    case 'last':
      return formatAge(now - agent.lastActiveAt);
    case 'doing':
      return formatAgentActivity(agent);
    default:
      return '';
  }
};
