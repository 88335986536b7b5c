/** Formats a swarm as a tree in columns that fits the terminal width. */
import { type LeaseHolder, leaseText } from '../../protocol/session/leases.js';
import type { AgentView, SwarmView } from '../../views/swarm/swarm-view.js';
import { treeBranches } from '../charts/tree-branches.js';
import {
  formatAgent,
  formatAgentActivity,
  formatAgentAge,
  formatAgentState,
} from '../format/format-agent.js';
import { shortIds } from '../format/short-ids.js';
import { cutText, fitText } from '../text/fit-text.js';
import { formatMoney, formatPercent, formatShortNumber, plural } from '../text/format-number.js';
import { plainText } from '../text/sanitize.js';
import { textWidth } from '../text/text-width.js';

interface SwarmTextOptions {
  /** Maximum columns of a line. */
  readonly width: number;
  /** True if the terminal shows Unicode line characters. */
  readonly unicode: boolean;
  readonly now: number;
}

/** Returns a line for the session and a row for each agent. */
export const swarmText = (swarm: SwarmView, options: SwarmTextOptions): string => {
  const { agents } = swarm;
  const branches = treeBranches(agents, options.unicode);
  const prefixes = shortIds(agents.map(({ id }) => id));
  const rows = agents.map((agent, at) => {
    const label = formatAgent(agent, prefixes.get(agent.id) ?? agent.id);
    return cellsOf(agent, `${branches[at] ?? ''}${label}`, options.now);
  });
  return [cutText(swarmHead(swarm), options.width), ...table(rows, options.width)].join('\n');
};

/** Returns the session's id, state, totals and title in one line. */
export const swarmHead = (swarm: SwarmView): string => {
  const { session, holder, agents } = swarm;
  const state = leadState(holder) ?? stateWithout(agents);
  const title = plainText(session.title, 200);
  return `${session.id}  ${state}  ${totals(agents)}${waiting(swarm)}  ${title}`.trimEnd();
};

/** Returns the state of the process that leads a swarm. Undefined if no process leads it. */
export const leadState = (holder: LeaseHolder | undefined): string | undefined => {
  if (holder === undefined) return undefined;
  const { pid, leaseEndsInMs } = holder;
  return leaseEndsInMs === undefined ? `running, pid ${pid}` : leaseText(leaseEndsInMs);
};

const stateWithout = (agents: readonly AgentView[]): string =>
  agents.some(({ status }) => status === 'lost') ? 'lost' : 'ended';

const totals = (agents: readonly AgentView[]): string => {
  const isPriced = agents.every(({ costUsd }) => costUsd !== null);
  const cost = agents.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return `${plural(agents.length, 'agent')}  ${formatMoney(isPriced ? cost : null)}`;
};

/** Returns the number of queued agents if no worker is running, else ''. */
const waiting = ({ agents, workers }: SwarmView): string => {
  const queued = agents.filter(({ status }) => status === 'queued').length;
  if (workers !== 0 || queued === 0) return '';
  return `  ${queued} ${queued === 1 ? 'waits' : 'wait'} for a worker (\`skein worker\`)`;
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
/** Columns to drop on a narrow terminal, in this order. */
const OPTIONAL_COLUMNS: readonly Column[] = ['cache', 'tokens', 'turns'];
const MAX_AGENT_WIDTH = 28;
const MIN_DOING_WIDTH = 20;
const GAP = '  ';

const cellsOf = (agent: AgentView, label: string, now: number): Cells => {
  const { turns, inputTokens, outputTokens, cacheReadPercent, costUsd } = agent;
  const state = formatAgentState(agent);
  return {
    agent: label,
    state,
    turns: String(turns),
    tokens: formatShortNumber(inputTokens + outputTokens),
    cache: cacheReadPercent === null ? '-' : formatPercent(cacheReadPercent),
    cost: formatMoney(costUsd),
    age: formatAgentAge(agent, now),
    doing: formatAgentActivity(agent),
  };
};

const table = (rows: readonly Cells[], width: number): readonly string[] => {
  const all = [HEADS, ...rows];
  const widths = new Map(
    COLUMNS.map((column) => [column, Math.max(...all.map((row) => textWidth(row[column])))]),
  );
  widths.set('agent', Math.min(MAX_AGENT_WIDTH, widths.get('agent') ?? 0));
  const room = () =>
    [...widths].reduce(
      (left, [column, taken]) => left - (column === 'doing' ? 0 : taken + GAP.length),
      width,
    );
  for (const column of OPTIONAL_COLUMNS) if (room() < MIN_DOING_WIDTH) widths.delete(column);
  if (room() < 8) widths.delete('doing');
  else widths.set('doing', room());
  return all.map((row) =>
    cutText(
      [...widths]
        .map(([column, taken]) => fitText(row[column], taken, RIGHT.has(column)))
        .join(GAP)
        .trimEnd(),
      width,
    ),
  );
};
