/** What each agent of a swarm cost, as a table: the dearest first, and the rest in one line. */

import {
  count,
  figureTable,
  money,
  plural,
  wrapped,
} from '../../../terminal/text/format-numbers.js';
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

/** `skein cost --json` has them all. */
const MOST_ROWS = 20;

/** Nothing where the lead was alone. */
export const agentCostLines = (agents: readonly AgentCost[], width: number): readonly string[] => {
  if (agents.length < 2) return [];
  const rest = agents.slice(MOST_ROWS);
  const paid = rest.reduce((sum, { knownCostUsd }) => sum + knownCostUsd, 0);
  const isKnown = rest.every(({ costUsd }) => costUsd !== null);
  const more = `${plural(rest.length, 'more agent')}: ${money(isKnown ? paid : null)}.`;
  return [
    ...figureTable(HEAD, agents.slice(0, MOST_ROWS).map(rowOf), width),
    ...(rest.length === 0 ? [] : wrapped(more, width)),
    '',
  ];
};

const rowOf = (agent: AgentCost): readonly string[] => [
  nameOf(agent),
  count(agent.requests),
  count(agent.outputTokens),
  count(agent.cacheReadTokens),
  count(agent.cacheWriteTokens),
  count(agent.cacheMisses),
  money(agent.costUsd),
];

const nameOf = ({ agent, parent, type, name }: AgentCost): string =>
  plainText(parent === null ? 'lead' : `${type ?? 'fork'} ${name ?? agent}`, 30);
