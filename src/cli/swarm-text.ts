/** A swarm as a tree in columns, as wide as the terminal and no wider. */
import { type AgentView, calledOf, type SwarmView } from '../sdk/swarm-view.js';
import { money, plural } from './figures.js';
import { plainText } from './harmless-text.js';
import { characterWidth, textWidth } from './text-width.js';
import { waitWords } from './wait-words.js';

export interface TreePaper {
  /** Columns that a line may take. */
  readonly width: number;
  /** The terminal has lines to draw a tree with. */
  readonly unicode: boolean;
  readonly now: number;
}

/** A line for the session, then a row for each of its agents. */
export const swarmText = (swarm: SwarmView, paper: TreePaper): string => {
  const { session, holder, agents } = swarm;
  const state = holder === undefined ? stateWithout(agents) : `running, pid ${holder.pid}`;
  const head = `${session.id}  ${state}  ${totals(agents)}${waiting(swarm)}  ${plainText(session.title, 200)}`;
  const branches = branchesOf(agents, paper.unicode);
  const prefixes = shortIds(agents.map(({ id }) => id));
  const rows = agents.map((agent, at) => {
    const called = plainText(calledOf(agent), 60);
    const id = prefixes.get(agent.id) ?? agent.id;
    // A name is an address; what has none is called by the beginning of its id.
    const who = agent.name === null ? `${called} ${plainText(id, 30)}` : called;
    return cellsOf(agent, `${branches[at] ?? ''}${who}`, paper.now);
  });
  return [cut(head.trimEnd(), paper.width), ...table(rows, paper.width)].join('\n');
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
  ...{ agent: 'AGENT', state: 'STATE', turns: 'TURNS', tokens: 'TOKENS', cache: 'CACHED' },
  ...{ cost: 'COST', age: 'AGE', doing: 'DOING' },
};
const COLUMNS = Object.keys(HEADS) as readonly Column[];
const RIGHT: ReadonlySet<Column> = new Set(['turns', 'tokens', 'cache', 'cost', 'age']);
/** What goes first where there is little room. */
const DISPENSABLE: readonly Column[] = ['cache', 'tokens', 'turns'];
const WIDEST_AGENT = 28;
const LEAST_DOING = 20;
const GAP = '  ';

const cellsOf = (agent: AgentView, who: string, now: number): Cells => {
  const { status, turns, inputTokens, outputTokens, cacheReadPercent, costUsd, since } = agent;
  const isLive = status === 'running' || status === 'queued';
  const until = isLive ? now : agent.lastActiveAt;
  // Who has come to an end is not called stopped: that is what a person does.
  const state = isLive ? agent.state : status;
  return {
    ...{ agent: who, state, turns: String(turns), tokens: short(inputTokens + outputTokens) },
    cache: cacheReadPercent === null ? '-' : `${Math.round(cacheReadPercent)} %`,
    ...{ cost: money(costUsd), age: shortAge(until - since), doing: doingOf(agent) },
  };
};

const doingOf = ({
  questions,
  calls,
  state,
  waitsFor,
  refusal,
  hasLostWorker,
  stop,
  description,
  status,
}: AgentView): string => {
  const more = (count: number) => (count > 1 ? ` (+${count - 1})` : '');
  const [question] = questions;
  const [call] = calls;
  if (question !== undefined) {
    return `asks: ${plainText(question.description)}${more(questions.length)}`;
  }
  if (call !== undefined) return `${plainText(call.description)}${more(calls.length)}`;
  if (refusal !== null) return `waits: ${plainText(refusal)}`;
  if (hasLostWorker) return 'waits for another worker: the one that had it is gone';
  if (state === 'waiting') return `waits for ${waitWords(waitsFor)}`;
  const isOver = status === 'ended' || status === 'stopped';
  if (stop !== null && isOver && stop.reason !== 'end_turn') {
    return plainText(`${stop.reason}${stop.detail === null ? '' : `: ${stop.detail}`}`);
  }
  return plainText(description);
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

const fitted = (text: string, width: number, isRight: boolean): string => {
  const shown = cut(text, width);
  const space = ' '.repeat(Math.max(0, width - textWidth(shown)));
  return isRight ? `${space}${shown}` : `${shown}${space}`;
};

/** By columns of the terminal, and says that something is left out. */
const cut = (text: string, width: number): string => {
  if (textWidth(text) <= width) return text;
  let taken = 0;
  let shown = '';
  for (const character of text) {
    taken += characterWidth(character);
    if (taken > width - 1) break;
    shown += character;
  }
  return `${shown}…`;
};

/** The lines of the tree in front of each agent; they come in order, each behind its parent. */
const branchesOf = (agents: readonly AgentView[], unicode: boolean): readonly string[] => {
  const [down, fork, last] = unicode ? ['│ ', '├─', '└─'] : ['| ', '|-', '`-'];
  const above: boolean[] = [];
  const branches: string[] = [];
  // From the end: whether a sibling follows is known there.
  for (const { depth } of agents.toReversed()) {
    const level = Math.min(Math.max(0, depth), DEEPEST);
    const goesOn = above[level] === true;
    const stems = Array.from({ length: Math.max(0, level - 1) }, (_, at) =>
      above[at + 1] === true ? down : '  ',
    );
    branches.push(level === 0 ? '' : `${stems.join('')}${goesOn ? fork : last}`);
    above.length = level + 1;
    above[level] = true;
  }
  return branches.toReversed();
};

/** Deeper ones are drawn here. */
const DEEPEST = 8;
const SHORTEST_ID = 7;

/** The shortest beginnings that no two of them share. */
export const shortIds = (ids: readonly string[]): ReadonlyMap<string, string> => {
  const sorted = ids.toSorted();
  return new Map(
    sorted.map((id, at) => {
      const shared = Math.max(common(id, sorted[at - 1]), common(id, sorted[at + 1]));
      return [id, id.slice(0, Math.max(SHORTEST_ID, shared + 1))];
    }),
  );
};

const common = (one: string, other = ''): number => {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
};

/** `950`, `12.3k`, `1.2M`. */
const short = (tokens: number): string => {
  if (tokens < 1_000) return String(tokens);
  const [value, unit] = tokens < 999_950 ? [tokens / 1_000, 'k'] : [tokens / 1_000_000, 'M'];
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
};

/** `42s`, `5m`, `3h`, `9d`. */
export const shortAge = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 100) return `${seconds}s`;
  if (seconds < 5_940) return `${Math.round(seconds / 60)}m`;
  return seconds < 48 * 3_600
    ? `${Math.round(seconds / 3_600)}h`
    : `${Math.round(seconds / 86_400)}d`;
};
