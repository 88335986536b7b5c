/** Which agents a board shows, and in which order: trees whose siblings are sorted, filtered and folded. */

import { branchesOf } from '../../../terminal/text/tree-branches.js';
import { type AgentView, calledOf, type SwarmView } from '../../../views/swarm/swarm-view.js';
import { GROUPS, groupOf, isLive } from '../agent-group.js';

export const ORDERS = ['tree', 'state', 'activity', 'cost', 'tokens', 'age'] as const;
export type Order = (typeof ORDERS)[number];

export const FILTERS = ['all', 'live', 'waiting', 'asking', 'failed'] as const;
export type Filter = (typeof FILTERS)[number];

export interface Wish {
  readonly order: Order;
  readonly isReversed: boolean;
  readonly filter: Filter;
  /** In any case; empty for all. */
  readonly text: string;
  /** Keys of agents whose agents are not shown. */
  readonly folded: ReadonlySet<string>;
}

/** A line of the board. */
export interface Place {
  readonly key: string;
  readonly session: string;
  /** Undefined: the line of the swarm itself. */
  readonly agent: string | undefined;
  readonly depth: number;
  /** The lines of the tree in front of it. */
  readonly branch: string;
  /** It is shown because of agents below it. */
  readonly isPassedBy: boolean;
  /** Those that are folded away below it. */
  readonly below: readonly string[];
  /** Somebody works for it. */
  readonly isParent: boolean;
}

/** A session and one that was forked from it have agents of the same id. */
export const keyOf = (session: string, agent: string): string => `${session} ${agent}`;

/** Several swarms have a line each. */
export const arrange = (swarms: readonly SwarmView[], wish: Wish): readonly Place[] =>
  swarms.flatMap((swarm) => {
    const places = placesOf(swarm, wish);
    if (swarms.length < 2) return places;
    const { id: session } = swarm.session;
    const isPassedBy = places.length === 0;
    const line = { key: session, session, agent: undefined, depth: 0, branch: '' };
    return [{ ...line, isPassedBy, below: [], isParent: false }, ...places];
  });

const placesOf = ({ session, agents }: SwarmView, wish: Wish): readonly Place[] => {
  const family = familyOf(agents);
  const compare = comparing(wish);
  const isHit = hits(wish);
  const shown = isHit === undefined ? undefined : withAncestors(agents, isHit);
  const isShown = ({ id }: AgentView) => shown?.has(id) !== false;
  const places: Omit<Place, 'branch'>[] = [];
  // Without recursion: nobody says how deep a tree is that somebody else wrote.
  const ahead: { readonly agent: AgentView; readonly depth: number }[] = [];
  const push = (siblings: readonly AgentView[], depth: number) => {
    const ordered = compare === undefined ? siblings : siblings.toSorted(compare);
    for (const agent of ordered.toReversed()) ahead.push({ agent, depth });
  };
  push(family.roots.filter(isShown), 0);
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { agent, depth } = next;
    const key = keyOf(session.id, agent.id);
    const children = (family.children.get(agent.id) ?? []).filter(isShown);
    const isFolded = wish.folded.has(key) && children.length > 0;
    places.push({
      key,
      session: session.id,
      agent: agent.id,
      depth,
      isPassedBy: isHit?.(agent) === false,
      below: isFolded ? allBelow(children, family.children, isShown) : [],
      isParent: children.length > 0,
    });
    if (!isFolded) push(children, depth + 1);
  }
  const branches = branchesOf(places, true);
  return places.map((place, at) => ({ ...place, branch: branches[at] ?? '' }));
};

interface Family {
  readonly roots: readonly AgentView[];
  readonly children: ReadonlyMap<string, readonly AgentView[]>;
}

/** Who has no parent here, or goes round in a circle with it, is a root. */
const familyOf = (agents: readonly AgentView[]): Family => {
  const seen = new Set<string>();
  const children = new Map<string, AgentView[]>();
  const roots: AgentView[] = [];
  // Each comes behind its parent.
  for (const agent of agents) {
    const { id, parent } = agent;
    if (parent === null || !seen.has(parent)) roots.push(agent);
    else {
      const siblings = children.get(parent);
      if (siblings === undefined) children.set(parent, [agent]);
      else siblings.push(agent);
    }
    seen.add(id);
  }
  return { roots, children };
};

const allBelow = (
  children: readonly AgentView[],
  family: Family['children'],
  isShown: (agent: AgentView) => boolean,
): readonly string[] => {
  // The list grows while it is walked.
  const below = [...children];
  for (const { id } of below) below.push(...(family.get(id) ?? []).filter(isShown));
  return below.map(({ id }) => id);
};

/** Undefined: everybody. */
const hits = ({ filter, text }: Wish): ((agent: AgentView) => boolean) | undefined => {
  const wanted = text.trim().toLowerCase();
  if (filter === 'all' && wanted === '') return undefined;
  return (agent) => passes(agent, filter) && (wanted === '' || speaksOf(agent, wanted));
};

const passes = (agent: AgentView, filter: Filter): boolean => {
  if (filter === 'all') return true;
  if (filter === 'live') return isLive(agent);
  const group = groupOf(agent);
  return group === filter || (filter === 'waiting' && group === 'asking');
};

const speaksOf = (agent: AgentView, wanted: string): boolean =>
  [calledOf(agent), agent.type ?? '', agent.id, agent.description].some((text) =>
    text.toLowerCase().includes(wanted),
  );

const withAncestors = (
  agents: readonly AgentView[],
  isHit: (agent: AgentView) => boolean,
): ReadonlySet<string> => {
  const shown = new Set<string>();
  // From the end: whoever works for somebody comes behind that one.
  for (const agent of agents.toReversed()) {
    if (!shown.has(agent.id) && !isHit(agent)) continue;
    shown.add(agent.id);
    if (agent.parent !== null) shown.add(agent.parent);
  }
  return shown;
};

type Compare = (one: AgentView, other: AgentView) => number;

/** What one looks for comes first: the most urgent, the latest, the dearest, the largest, the oldest. */
const FIRST: Readonly<Record<Exclude<Order, 'tree'>, Compare>> = {
  state: (one, other) => GROUPS.indexOf(groupOf(one)) - GROUPS.indexOf(groupOf(other)),
  activity: (one, other) => other.lastActiveAt - one.lastActiveAt,
  cost: (one, other) => (other.costUsd ?? 0) - (one.costUsd ?? 0),
  tokens: (one, other) => tokensOf(other) - tokensOf(one),
  age: (one, other) => one.since - other.since,
};

/** Undefined: as they come. */
const comparing = ({ order, isReversed }: Wish): Compare | undefined => {
  const compare = order === 'tree' ? undefined : FIRST[order];
  if (!isReversed) return compare;
  // As they come is in the order of their birth.
  return compare === undefined
    ? (one, other) => other.since - one.since
    : (one, other) => compare(other, one);
};

export const tokensOf = ({ inputTokens, outputTokens }: AgentView): number =>
  inputTokens + outputTokens;
