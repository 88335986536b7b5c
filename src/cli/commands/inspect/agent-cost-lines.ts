/** Table lines with the cost of each agent: the most expensive first, the rest summed up. */
import { figureTable } from '../../../terminal/charts/figure-table.js';
import { wrapWords } from '../../../terminal/text/fit-text.js';
import { formatMoney, formatNumber, plural } from '../../../terminal/text/format-number.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import type { AgentCost } from '../../../views/cost/agent-costs.js';

const HEAD = [
  'agent',
  'requests',
  'output',
  'cache read',
  'cache write',
  'misses',
  'cost',
] as const;

/** Maximum number of rows. `skein cost --json` lists all agents. */
const MAX_ROWS = 20;

/** Returns no lines for a lead without sub-agents. */
export const agentCostLines = (agents: readonly AgentCost[], width: number): readonly string[] => {
  if (agents.length < 2) return [];
  const rest = agents.slice(MAX_ROWS);
  const paid = rest.reduce((sum, { knownCostUsd }) => sum + knownCostUsd, 0);
  const isPriced = rest.every(({ costUsd }) => costUsd !== null);
  const more = `${plural(rest.length, 'more agent')}: ${formatMoney(isPriced ? paid : null)}.`;
  return [
    ...figureTable(HEAD, agents.slice(0, MAX_ROWS).map(rowOf), width),
    ...(rest.length === 0 ? [] : wrapWords(more, width)),
    '',
  ];
};

const rowOf = (agent: AgentCost): readonly string[] => [
  nameOf(agent),
  formatNumber(agent.requests),
  formatNumber(agent.outputTokens),
  formatNumber(agent.cacheReadTokens),
  formatNumber(agent.cacheWriteTokens),
  formatNumber(agent.cacheMisses),
  formatMoney(agent.costUsd),
];

const nameOf = ({ agent, parent, type, name }: AgentCost): string =>
  plainText(parent === null ? 'lead' : `${type ?? 'fork'} ${name ?? agent}`, 30);
