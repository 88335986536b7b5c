/** A swarm as a tree in columns, as wide as the terminal and no wider. */
import type { AgentView, SwarmView } from '../../views/swarm/swarm-view.js';
import { ageText, doingOf, stateText, whoText } from '../format/format-agent.js';
import { money, percent, plural, shortCount } from '../text/format-numbers.js';
import { plainText } from '../text/sanitize.js';
import { shortIds } from '../text/short-ids.js';
import { cut, fitted } from '../text/text-fit.js';
import { textWidth } from '../text/text-width.js';
import { branchesOf } from '../text/tree-branches.js';

export interface TreePaper {
  /** Columns that a line may take. */
  readonly width: number;
  /** The terminal has lines to draw a tree with. */
  readonly unicode: boolean;
  readonly now: number;
}

/** A line for the session, then a row for each of its agents. */
export const swarmText = (swarm: SwarmView, paper: TreePaper): string => {
  const { agents } = swarm;
  const branches = branchesOf(agents, paper.unicode);
  const prefixes = shortIds(agents.map(({ id }) => id));
  const rows = agents.map((agent, at) => {
    const who = whoText(agent, prefixes.get(agent.id) ?? agent.id);
    return cellsOf(agent, `${branches[at] ?? ''}${who}`, paper.now);
  });
  return [cut(swarmHead(swarm), paper.width), ...table(rows, paper.width)].join('\n');
};

/** The session in a line. */
export const swarmHead = (swarm: SwarmView): string => {
  const { session, holder, agents } = swarm;
  const state = holder === undefined ? stateWithout(agents) : `running, pid ${holder.pid}`;
  const title = plainText(session.title, 200);
  return `${session.id}  ${state}  ${totals(agents)}${waiting(swarm)}  ${title}`.trimEnd();
};

const stateWithout = (agents: readonly AgentView[]): string =>
  agents.some(({ status }) => status === 'lost') ? 'lost' : 'ended';

const totals = (agents: readonly AgentView[]): string => {
  const known = agents.every(({ costUsd }) => costUsd !== null);
  const cost = agents.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return `${plural(agents.length, 'agent')}  ${money(known ? cost : null)}`;
};

/** Nobody is there who would take them. */
const waiting = ({ agents, workers }: SwarmView): string => {
  const many = agents.filter(({ status }) => status === 'queued').length;
  if (workers !== 0 || many === 0) return '';
  return `  ${many} ${many === 1 ? 'waits' : 'wait'} for a worker (\`skein worker\`)`;
};

type Column = 'agent' | 'state' | 'turns' | 'tokens' | 'cache' | 'cost' | 'age' | 'doing';
type Cells = Readonly<Record<Column, string>>;

const HEADS: Cells = {
  agent: 'AGENT',
  state: 'STATE',
  turns: 'TURNS',
  tokens: 'TOKENS',
  cache: 'CACHED',
  cost: 'COST',
  age: 'AGE',
  doing: 'DOING',
};
const COLUMNS = Object.keys(HEADS) as readonly Column[];
const RIGHT: ReadonlySet<Column> = new Set(['turns', 'tokens', 'cache', 'cost', 'age']);
/** What goes first where there is little room. */
const DISPENSABLE: readonly Column[] = ['cache', 'tokens', 'turns'];
const WIDEST_AGENT = 28;
const LEAST_DOING = 20;
const GAP = '  ';

const cellsOf = (agent: AgentView, who: string, now: number): Cells => {
  const { turns, inputTokens, outputTokens, cacheReadPercent, costUsd } = agent;
  const state = stateText(agent);
  return {
    agent: who,
    state,
    turns: String(turns),
    tokens: shortCount(inputTokens + outputTokens),
    cache: cacheReadPercent === null ? '-' : percent(cacheReadPercent),
    cost: money(costUsd),
    age: ageText(agent, now),
    doing: doingOf(agent),
  };
};

const table = (rows: readonly Cells[], width: number): readonly string[] => {
  const all = [HEADS, ...rows];
  const widths = new Map(
    COLUMNS.map((column) => [column, Math.max(...all.map((row) => textWidth(row[column])))]),
  );
  widths.set('agent', Math.min(WIDEST_AGENT, widths.get('agent') ?? 0));
  const room = () =>
    [...widths].reduce(
      (left, [column, taken]) => left - (column === 'doing' ? 0 : taken + GAP.length),
      width,
    );
  for (const column of DISPENSABLE) if (room() < LEAST_DOING) widths.delete(column);
  if (room() < 8) widths.delete('doing');
  else widths.set('doing', room());
  return all.map((row) =>
    cut(
      [...widths]
        .map(([column, taken]) => fitted(row[column], taken, RIGHT.has(column)))
        .join(GAP)
        .trimEnd(),
      width,
    ),
  );
};
