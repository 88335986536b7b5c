/** Head lines of a swarm screen: title and progress. */

import { allotCells } from '../../terminal/charts/stacked-bar.js';
import { leadState } from '../../terminal/output/swarm-text.js';
import { cutText } from '../../terminal/text/fit-text.js';
import { formatMoney, formatShortNumber, plural } from '../../terminal/text/format-number.js';
import { formatAge } from '../../terminal/text/format-time.js';
import { plainText } from '../../terminal/text/sanitize.js';
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import type { TerminalStyle } from '../screen/terminal-style.js';
import { justifiedLine, type LinePart, minLineWidth } from './justified-line.js';
import { type SwarmTotals, swarmTotals } from './swarm-totals.js';
import { type AgentGroup, groupSign, paintGroup } from './table/agent-group.js';

interface HeadLinesOptions extends TerminalStyle {
  readonly width: number;
  readonly now: number;
}

/** Returns title and progress, or title and problem if the content may be outdated. */
export const headLines = (
  title: string,
  swarms: readonly SwarmView[],
  problem: string | null,
  options: HeadLinesOptions,
): readonly string[] => [
  titleLine(title, swarms, options),
  problem === null
    ? progressLine(swarmTotals(swarms, options.now), options)
    : problemLine(problem, options),
];

export const titleLine = (
  title: string,
  swarms: readonly SwarmView[],
  { width, now, paint }: HeadLinesOptions,
): string => {
  const head = { text: title, tint: paint.strong };
  const [single] = swarms;
  if (swarms.length !== 1 || single === undefined) {
    const count = swarms.length === 0 ? 'no swarm is running' : plural(swarms.length, 'swarm');
    return justifiedLine([head, { text: count }], [], width);
  }
  const { session, holder, agents } = single;
  const model = agents[0]?.model ?? session.model;
  const isLost = agents.some(({ status }) => status === 'lost');
  const isAtWork = agents.some(({ status }) => status === 'running' || status === 'idle');
  const rest = isAtWork ? 'running' : isLost ? 'lost' : 'ended';
  const state = leadState(holder) ?? rest;
  const tint = paint.dim;
  const facts = [
    { text: state, ...(isLost && { tint: paint.alarm }) },
    ...(holder === undefined ? [] : [{ text: `up ${formatAge(now - session.createdAt)}`, tint }]),
    { text: plainText(model, 40), tint },
  ];
  const taken = facts.reduce((sum, { text }) => sum + text.length + 2, 0);
  const room = width - title.length - session.id.length - 4 - (width < 80 ? 0 : taken);
  const name = { text: session.id };
  const sessionTitle = { text: cutText(plainText(session.title, 200), Math.max(0, room)), tint };
  return justifiedLine([head, name, ...(room > 8 ? [sessionTitle] : [])], facts, width);
};

/** Returns the reason for outdated content. Shown instead of the progress. */
const problemLine = (problem: string, { width, paint }: HeadLinesOptions): string =>
  paint.alarm(
    cutText(`! ${plainText(problem, 300).replace(/\.$/, '')}; the screen may be outdated`, width),
  );

/** Minimum width at which the progress bar is shown. */
const MIN_WIDTH_WITH_BAR = 110;
const BAR_CELLS = 20;
const COUNTED: readonly AgentGroup[] = ['running', 'waiting', 'failed', 'done'];

export const progressLine = (totals: SwarmTotals, options: HeadLinesOptions): string => {
  const { width, paint, unicode } = options;
  const digits = String(totals.agents).length;
  const part = (group: AgentGroup, word: string): LinePart => {
    const count = totals[group];
    const text = `${groupSign(group, unicode)} ${String(count).padStart(digits)} ${word}`;
    return { text, tint: count === 0 ? paint.dim : paintGroup(group, paint) };
  };
  const asks = totals.asking === 0 ? [] : [part('asking', totals.asking === 1 ? 'asks' : 'ask')];
  const bar = width >= MIN_WIDTH_WITH_BAR ? [progressBar(totals, options)] : [];
  const spending = spendingParts(totals);
  // On a narrow screen counts of zero are dropped to make room for the cost, the last count first.
  const shown = [...COUNTED];
  const counts = () => shown.map((group) => part(group, group));
  while (minLineWidth([...bar, ...counts(), ...asks, ...spending]) > width) {
    const zero = shown.findLastIndex((group) => totals[group] === 0);
    // The count of running agents always stays.
    if (zero <= 0) break;
    shown.splice(zero, 1);
  }
  const right = [...spending, ...rateParts(totals, options)];
  return justifiedLine([...bar, ...counts(), ...asks], right, width);
};

/** Returns the share of ended agents. Idle agents do not count as ended, because they may get more work. */
const progressBar = (
  { agents, done, failed }: SwarmTotals,
  { unicode }: HeadLinesOptions,
): LinePart => {
  const over = done + failed;
  const [full = 0, rest = 0] = allotCells([over, agents - over], BAR_CELLS);
  const [block, empty] = unicode ? ['█', '░'] : ['#', '.'];
  return { text: `${block.repeat(full)}${empty.repeat(agents === 0 ? BAR_CELLS : rest)}` };
};

const spendingParts = ({ costUsd, leftUsd, leftTokens }: SwarmTotals): readonly LinePart[] => [
  { text: `${formatMoney(costUsd)} spent` },
  ...(leftUsd === null ? [] : [{ text: `${formatMoney(Math.max(0, leftUsd))} left` }]),
  ...(leftTokens === null
    ? []
    : [{ text: `${formatShortNumber(Math.max(0, leftTokens))} tokens left` }]),
];

const rateParts = (
  { turnsPerMinute, usdPerMinute }: SwarmTotals,
  { paint }: HeadLinesOptions,
): readonly LinePart[] => {
  const tint = paint.dim;
  const turns =
    turnsPerMinute < 10 ? turnsPerMinute.toFixed(1) : String(Math.round(turnsPerMinute));
  return [
    { text: `${turns} turns/min`, tint },
    ...(usdPerMinute === null ? [] : [{ text: `${formatMoney(usdPerMinute)}/min`, tint }]),
  ];
};
