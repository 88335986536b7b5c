/** Sort and filter of the agent table: a tree whose siblings are sorted, filtered and folded. */

import { treeBranches } from '../../../terminal/charts/tree-branches.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { type AgentView, displayName, type SwarmView } from '../../../views/swarm/swarm-view.js';
import { AGENT_GROUPS, groupOf, isLiveAgent } from './agent-group.js';

export const SORT_ORDERS = ['tree', 'state', 'activity', 'cost', 'tokens', 'age'] as const;
type SortOrder = (typeof SORT_ORDERS)[number];

export const AGENT_FILTERS = ['all', 'live', 'waiting', 'asking', 'failed'] as const;
type AgentFilter = (typeof AGENT_FILTERS)[number];

export interface SortAndFilter {
  readonly order: SortOrder;
  readonly isReversed: boolean;
  readonly filter: AgentFilter;
  /** Search text, case-insensitive. Empty: all agents. */
  readonly text: string;
  /** Keys of agents whose descendants are hidden. */
  readonly folded: ReadonlySet<string>;
}

/** Row of the table: an agent, or the head of a swarm. */
export interface ArrangedRow {
  readonly key: string;
  readonly session: string;
  /** Undefined for the head of a swarm. */
  readonly agent: string | undefined;
  readonly depth: number;
  /** Branch lines in front of the name. */
  readonly branch: string;
  /** True if the agent does not match and is shown for its descendants. */
  readonly isContext: boolean;
  /** Ids of the folded descendants. */
  readonly below: readonly string[];
  /** True if the agent has visible children. */
  readonly isParent: boolean;
}

/** Returns a key that is unique across sessions: a forked session has agents with the same ids as its origin. */
export const agentKey = (session: string, agent: string): string => `${session} ${agent}`;

/** Returns the rows of all swarms. With several swarms, each has a head row. */
export const arrangeRows = (
  swarms: readonly SwarmView[],
  sortAndFilter: SortAndFilter,
): readonly ArrangedRow[] =>
  swarms.flatMap((swarm) => {
    const rows = rowsOf(swarm, sortAndFilter);
    if (swarms.length < 2) return rows;
    const { id: session } = swarm.session;
    const isContext = rows.length === 0;
    const head = { key: session, session, agent: undefined, depth: 0, branch: '' };
    return [{ ...head, isContext, below: [], isParent: false }, ...rows];
  });

const rowsOf = (
  { session, agents }: SwarmView,
  sortAndFilter: SortAndFilter,
): readonly ArrangedRow[] => {
  const tree = agentTree(agents);
  const compare = comparatorFor(sortAndFilter);
  const isMatch = matcherFor(sortAndFilter);
  const shown = isMatch === undefined ? undefined : withAncestors(agents, isMatch);
  const isShown = ({ id }: AgentView) => shown?.has(id) !== false;
  const rows: Omit<ArrangedRow, 'branch'>[] = [];
  // Without recursion, because a tree from a log may have any depth.
  const ahead: { readonly agent: AgentView; readonly depth: number }[] = [];
  const push = (siblings: readonly AgentView[], depth: number) => {
    const ordered = compare === undefined ? siblings : siblings.toSorted(compare);
    for (const agent of ordered.toReversed()) ahead.push({ agent, depth });
  };
  push(tree.roots.filter(isShown), 0);
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { agent, depth } = next;
    const key = agentKey(session.id, agent.id);
    const children = (tree.children.get(agent.id) ?? []).filter(isShown);
    const isFolded = sortAndFilter.folded.has(key) && children.length > 0;
    rows.push({
      key,
      session: session.id,
      agent: agent.id,
      depth,
      isContext: isMatch?.(agent) === false,
      below: isFolded ? allBelow(children, tree.children, isShown) : [],
      isParent: children.length > 0,
    });
    if (!isFolded) push(children, depth + 1);
  }
  const branches = treeBranches(rows, true);
  return rows.map((row, at) => ({ ...row, branch: branches[at] ?? '' }));
};

interface AgentTree {
  readonly roots: readonly AgentView[];
  readonly children: ReadonlyMap<string, readonly AgentView[]>;
}

/** An agent without a parent before it in the list is a root. This also breaks cycles of parent ids. */
const agentTree = (agents: readonly AgentView[]): AgentTree => {
  const listed = new Set<string>();
  const children = new Map<string, AgentView[]>();
  const roots: AgentView[] = [];
  // Agents are listed behind their parents.
  for (const agent of agents) {
    const { id, parent } = agent;
    if (parent === null || !listed.has(parent)) roots.push(agent);
    else {
      const siblings = children.get(parent);
      if (siblings === undefined) children.set(parent, [agent]);
      else siblings.push(agent);
    }
    listed.add(id);
  }
  return { roots, children };
};

const allBelow = (
  children: readonly AgentView[],
  tree: AgentTree['children'],
  isShown: (agent: AgentView) => boolean,
): readonly string[] => {
  // The list grows while it is walked.
  const below = [...children];
  for (const { id } of below) below.push(...(tree.get(id) ?? []).filter(isShown));
  return below.map(({ id }) => id);
};

/** Returns undefined if all agents match. */
const matcherFor = ({
  filter,
  text,
}: SortAndFilter): ((agent: AgentView) => boolean) | undefined => {
  const query = text.trim().toLowerCase();
  if (filter === 'all' && query === '') return undefined;
  return (agent) => matchesFilter(agent, filter) && (query === '' || matchesText(agent, query));
};

const matchesFilter = (agent: AgentView, filter: AgentFilter): boolean => {
  if (filter === 'all') return true;
  if (filter === 'live') return isLiveAgent(agent);
  const group = groupOf(agent);
  return group === filter || (filter === 'waiting' && group === 'asking');
};

const matchesText = (agent: AgentView, query: string): boolean =>
  [displayName(agent), agent.type ?? '', agent.id, agent.description].some((text) =>
    text.toLowerCase().includes(query),
  );

/** Returns the ids of the matching agents and of all their ancestors. */
const withAncestors = (
  agents: readonly AgentView[],
  isMatch: (agent: AgentView) => boolean,
): ReadonlySet<string> => {
  const shown = new Set<string>();
  // Backwards, because agents are listed behind their parents.
  for (const agent of agents.toReversed()) {
    if (!shown.has(agent.id) && !isMatch(agent)) continue;
    shown.add(agent.id);
    if (agent.parent !== null) shown.add(agent.parent);
  }
  return shown;
};

type Compare = (a: AgentView, b: AgentView) => number;

/** Comparators that put the most urgent, latest, most expensive, largest or oldest agent first. */
const COMPARATORS: Readonly<Record<Exclude<SortOrder, 'tree'>, Compare>> = {
  state: (a, b) => AGENT_GROUPS.indexOf(groupOf(a)) - AGENT_GROUPS.indexOf(groupOf(b)),
  activity: (a, b) => b.lastActiveAt - a.lastActiveAt,
  cost: (a, b) => (b.costUsd ?? 0) - (a.costUsd ?? 0),
  tokens: (a, b) => totalTokens(b) - totalTokens(a),
  age: (a, b) => a.since - b.since,
};

/** Returns undefined for the order of the list. */
const comparatorFor = ({ order, isReversed }: SortAndFilter): Compare | undefined => {
  const compare = order === 'tree' ? undefined : COMPARATORS[order];
  if (!isReversed) return compare;
  // The list is in order of start time.
  return compare === undefined ? (a, b) => b.since - a.since : (a, b) => compare(b, a);
};

export const totalTokens = ({ inputTokens, outputTokens }: AgentView): number =>
  inputTokens + outputTokens;

const FILTER_NAMES: Readonly<Record<AgentFilter, string>> = {
  all: '',
  live: 'live agents',
  waiting: 'waiting agents',
  asking: 'asking agents',
  failed: 'failed agents',
};

/** Describes the filter and the order for people. Returns '' for all agents in tree order. */
export const sortAndFilterText = ({ order, isReversed, filter, text }: SortAndFilter): string => {
  const filters = [FILTER_NAMES[filter], text === '' ? '' : `with "${plainText(text, 40)}"`];
  const shown = filters.filter((word) => word !== '').join(' ');
  const sorted =
    order === 'tree' && !isReversed ? '' : `by ${order}${isReversed ? ', reversed' : ''}`;
  return [shown === '' ? '' : `only ${shown}`, sorted].filter((word) => word !== '').join(', ');
};
