/** The columns of a board: as many as there is room for, each always as wide as before. */

import { ageText, doingOf, stateText } from '../../../terminal/format/format-agent.js';
import { money, percent, shortCount } from '../../../terminal/text/format-numbers.js';
import { shortAge } from '../../../terminal/text/format-time.js';
import { fitted } from '../../../terminal/text/text-fit.js';
import type { AgentView } from '../../../views/swarm/swarm-view.js';
import { tokensOf } from './agent-sort.js';

export type Column =
  | 'agent'
  | 'state'
  | 'turns'
  | 'tokens'
  | 'cache'
  | 'cost'
  | 'age'
  | 'last'
  | 'doing';

export interface BoardColumns {
  readonly width: number;
  /** From left to right. */
  readonly widths: ReadonlyMap<Column, number>;
}

export const HEADS: Readonly<Record<Column, string>> = {
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

const RIGHT: ReadonlySet<Column> = new Set(['turns', 'tokens', 'cache', 'cost', 'age', 'last']);
const FIGURES: readonly (readonly [Column, number])[] = [
  ['turns', 5],
  ['tokens', 6],
  ['cache', 6],
  ['cost', 8],
  ['age', 4],
  ['last', 4],
];
/** What comes first where there is little room. */
const WANTED: readonly Column[] = ['cost', 'age', 'last', 'turns', 'tokens', 'cache'];
export const GAP = '  ';
/** What stands in front of the selected one. */
export const MARK_WIDTH = 2;
/** With little room, and with more. */
const LEAST_DOING = [20, 24] as const;
const LEAST_AGENT = [20, 26] as const;
const MOST_AGENT = 36;
/** A sign, and the longest word there is for a state; where there is little room, most of it. */
const STATE_WIDTH = 21;
const SHORT_STATE_WIDTH = 16;
const ROOMY = 100;
const ROOMY_DOING = 90;

/** They never depend on what is in them, so that nothing jumps. */
export const columnsFor = (width: number): BoardColumns => {
  const leastAgent = LEAST_AGENT[width < ROOMY_DOING ? 0 : 1];
  const agent = Math.min(MOST_AGENT, Math.max(leastAgent, Math.floor(width * 0.22)));
  const state = width < ROOMY ? SHORT_STATE_WIDTH : STATE_WIDTH;
  const figures = new Map(FIGURES);
  const least = LEAST_DOING[width < ROOMY_DOING ? 0 : 1];
  let left = width - MARK_WIDTH - agent - state - 2 * GAP.length;
  const taken = new Set<Column>();
  for (const column of WANTED) {
    const needed = (figures.get(column) ?? 0) + GAP.length;
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

/** Cells side by side, from the first column that is shown to the last. */
export const lineOf = (
  { widths }: BoardColumns,
  cellOf: (column: Column, width: number) => string,
): string => [...widths].map(([column, width]) => cellOf(column, width)).join(GAP);

export const fittedCell = (column: Column, text: string, width: number): string =>
  fitted(text, width, RIGHT.has(column));

export const headLine = (columns: BoardColumns): string =>
  ' '.repeat(MARK_WIDTH) +
  lineOf(columns, (column, width) => fittedCell(column, HEADS[column], width)).trimEnd();

/** What an agent has in the columns of figures and words. */
export const cellText = (column: Column, agent: AgentView, now: number): string => {
  switch (column) {
    case 'state':
      return stateText(agent);
    case 'turns':
      return String(agent.turns);
    case 'tokens':
      return shortCount(tokensOf(agent));
    case 'cache':
      return agent.cacheReadPercent === null ? '-' : percent(agent.cacheReadPercent);
    case 'cost':
      return money(agent.costUsd);
    case 'age':
      return ageText(agent, now);
    case 'last':
      return shortAge(now - agent.lastActiveAt);
    case 'doing':
      return doingOf(agent);
    default:
      return '';
  }
};
