/** The first lines of a swarm screen: what is shown, and how far it is. */

import { cellsOf } from '../../terminal/text/bar-chart.js';
import { money, plural, shortCount } from '../../terminal/text/format-numbers.js';
import { shortAge } from '../../terminal/text/format-time.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { cut } from '../../terminal/text/text-fit.js';
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import type { Look } from '../screen/terminal-style.js';
import { type AgentGroup, paintGroup, signOf } from './agent-group.js';
import { leastWidth, type Part, spreadLine } from './justified-line.js';
import type { Totals } from './swarm-totals.js';
import type { Wish } from './table/agent-sort.js';

export interface HeadPaper extends Look {
  readonly width: number;
  readonly now: number;
}

export const titleLine = (
  title: string,
  swarms: readonly SwarmView[],
  { width, now, paint }: HeadPaper,
): string => {
  const head = { text: title, tint: paint.strong };
  const [only] = swarms;
  if (swarms.length !== 1 || only === undefined) {
    const many = swarms.length === 0 ? 'no swarm runs' : plural(swarms.length, 'swarm');
    return spreadLine([head, { text: many }], [], width);
  }
  const { session, holder, agents } = only;
  const model = agents[0]?.model ?? session.model;
  const isLost = agents.some(({ status }) => status === 'lost');
  const isAtWork = agents.some(({ status }) => status === 'running' || status === 'idle');
  const rest = isAtWork ? 'running' : isLost ? 'lost' : 'ended';
  const state = holder === undefined ? rest : `running, pid ${holder.pid}`;
  const tint = paint.dim;
  const facts = [
    { text: state, ...(isLost && { tint: paint.alarm }) },
    ...(holder === undefined ? [] : [{ text: `up ${shortAge(now - session.createdAt)}`, tint }]),
    { text: plainText(model, 40), tint },
  ];
  const taken = facts.reduce((sum, { text }) => sum + text.length + 2, 0);
  const room = width - title.length - session.id.length - 4 - (width < 80 ? 0 : taken);
  const name = { text: session.id };
  const what = { text: cut(plainText(session.title, 200), Math.max(0, room)), tint };
  return spreadLine([head, name, ...(room > 8 ? [what] : [])], facts, width);
};

/** Why what is shown may be old; it stands where the progress does otherwise. */
export const troubleLine = (trouble: string, { width, paint }: HeadPaper): string =>
  paint.alarm(
    cut(`! ${plainText(trouble, 300).replace(/\.$/, '')}; what is shown is as it was`, width),
  );

const BAR_FROM = 110;
const BAR_CELLS = 20;
const COUNTED: readonly AgentGroup[] = ['running', 'waiting', 'failed', 'done'];

export const progressLine = (totals: Totals, paper: HeadPaper): string => {
  const { width, paint, unicode } = paper;
  const digits = String(totals.agents).length;
  const part = (group: AgentGroup, word: string): Part => {
    const count = totals[group];
    const text = `${signOf(group, unicode)} ${String(count).padStart(digits)} ${word}`;
    return { text, tint: count === 0 ? paint.dim : paintGroup(group, paint) };
  };
  const asks = totals.asking === 0 ? [] : [part('asking', totals.asking === 1 ? 'asks' : 'ask')];
  const bar = width >= BAR_FROM ? [progressBar(totals, paper)] : [];
  const spending = spendingParts(totals);
  // Money says more than how many there are not: where there is little room, zeros give way, the last first.
  const shown = [...COUNTED];
  const counts = () => shown.map((group) => part(group, group));
  while (leastWidth([...bar, ...counts(), ...asks, ...spending]) > width) {
    const zero = shown.findLastIndex((group) => totals[group] === 0);
    // Whether anybody runs is said at any width.
    if (zero <= 0) break;
    shown.splice(zero, 1);
  }
  const right = [...spending, ...rateParts(totals, paper)];
  return spreadLine([...bar, ...counts(), ...asks], right, width);
};

/** What is over, of all: the rest works or waits, or rests and may have done nothing yet. */
const progressBar = ({ agents, done, failed }: Totals, { unicode }: HeadPaper): Part => {
  const over = done + failed;
  const [full = 0, rest = 0] = cellsOf([over, agents - over], BAR_CELLS);
  const [block, empty] = unicode ? ['█', '░'] : ['#', '.'];
  return { text: `${block.repeat(full)}${empty.repeat(agents === 0 ? BAR_CELLS : rest)}` };
};

const spendingParts = ({ costUsd, leftUsd, leftTokens }: Totals): readonly Part[] => [
  { text: `${money(costUsd)} spent` },
  ...(leftUsd === null ? [] : [{ text: `${money(Math.max(0, leftUsd))} left` }]),
  ...(leftTokens === null ? [] : [{ text: `${shortCount(Math.max(0, leftTokens))} tokens left` }]),
];

const rateParts = (
  { turnsPerMinute, usdPerMinute }: Totals,
  { paint }: HeadPaper,
): readonly Part[] => {
  const tint = paint.dim;
  const turns =
    turnsPerMinute < 10 ? turnsPerMinute.toFixed(1) : String(Math.round(turnsPerMinute));
  return [
    { text: `${turns} turns/min`, tint },
    ...(usdPerMinute === null ? [] : [{ text: `${money(usdPerMinute)}/min`, tint }]),
  ];
};

const FILTERED: Readonly<Record<Wish['filter'], string>> = {
  all: '',
  live: 'live ones',
  waiting: 'those that wait',
  asking: 'those that ask',
  failed: 'those that failed',
};

/** What the table shows of all, and how; nothing where that is everything as it comes. */
export const wishText = ({ order, isReversed, filter, text }: Wish): string => {
  const only = [FILTERED[filter], text === '' ? '' : `with "${plainText(text, 40)}"`];
  const shown = only.filter((word) => word !== '').join(' ');
  const sorted =
    order === 'tree' && !isReversed ? '' : `by ${order}${isReversed ? ', reversed' : ''}`;
  return [shown === '' ? '' : `only ${shown}`, sorted].filter((word) => word !== '').join(', ');
};
