/** Agent detail: the facts of one agent, in a few lines beside or below the tree. */

import {
  formatAgent,
  formatAgentAge,
  formatAgentState,
} from '../../../terminal/format/format-agent.js';
import { formatAgentWait } from '../../../terminal/format/format-wait.js';
import { cutText, foldLine } from '../../../terminal/text/fit-text.js';
import {
  formatMoney,
  formatPercent,
  formatShortNumber,
  plural,
} from '../../../terminal/text/format-number.js';
import { formatAge } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { textWidth } from '../../../terminal/text/text-width.js';
import { type AgentView, displayName, type SwarmView } from '../../../views/swarm/swarm-view.js';
import type { TerminalStyle } from '../../screen/terminal-style.js';
import type { LayoutArea } from '../swarm-layout.js';
import { groupOf, groupSign, isLiveAgent, paintGroup } from '../table/agent-group.js';
import { totalTokens } from '../table/sort-and-filter.js';
import { CHART_COLUMNS, stateChart } from './state-chart.js';

/** Maximum lines of a list of calls or questions. */
const MAX_LISTED = 4;
const MAX_TASK_LINES = 3;
const LABEL_WIDTH = 7;
/** Lines from which the whole chart and a transcript fit. */
const TALL = 26;
/** Lines from which a chart fits. */
const ROOMY = 14;

interface AgentDetailOptions extends LayoutArea, TerminalStyle {
  readonly now: number;
}

export const agentDetail = (
  swarm: SwarmView,
  agent: AgentView,
  options: AgentDetailOptions,
): readonly string[] => {
  const { height } = options;
  const facts = [...factLines(swarm, agent, options), ...listLines(agent, options)];
  if (height < ROOMY) return facts.slice(0, Math.max(3, height - 4));
  const room = { ...options, width: height < TALL ? CHART_COLUMNS - 1 : options.width };
  const columns = Math.min(room.width, options.width);
  const chart = stateChart(agent.state, { ...options, columns });
  return [...facts, ...(height < TALL ? [] : ['']), ...chart];
};

/** Returns the agent's label at the left and its state at the right. */
export const agentTitle = (
  agent: AgentView,
  { paint, unicode, width }: TerminalStyle & LayoutArea,
): string => {
  const group = groupOf(agent);
  const state = `${groupSign(group, unicode)} ${formatAgentState(agent)}`;
  const name = cutText(formatAgent(agent, agent.id), width - textWidth(state) - 2);
  const space = ' '.repeat(Math.max(1, width - textWidth(name) - textWidth(state)));
  return `${paint.strong(name)}${space}${paintGroup(group, paint)(state)}`;
};

const factLines = (
  swarm: SwarmView,
  agent: AgentView,
  options: AgentDetailOptions,
): readonly string[] => {
  const { width, paint, now } = options;
  const { kind, model, worker, turns, cacheReadPercent, costUsd, lastActiveAt } = agent;
  const parent = swarm.agents.find(({ id }) => id === agent.parent);
  const role = kind === 'lead' ? `lead of ${swarm.session.id}` : kind;
  const cached = cacheReadPercent === null ? '' : `, ${formatPercent(cacheReadPercent)} cached`;
  const identity = [
    role,
    ...(parent === undefined ? [] : [`for ${plainText(displayName(parent), 40)}`]),
    ...(model === null ? [] : [plainText(model, 60)]),
    ...(worker === null ? [] : [`on worker ${plainText(worker, 60)}`]),
  ];
  const figures = [
    plural(turns, 'turn'),
    `${formatShortNumber(totalTokens(agent))} tokens${cached}`,
    ...(agent.contextTokens === null ? [] : [`context ${formatShortNumber(agent.contextTokens)}`]),
    formatMoney(costUsd),
    `${formatAgentAge(agent, now)} old`,
    `active ${formatAge(now - lastActiveAt)} ago`,
  ];
  return [
    agentTitle(agent, options),
    ...joined([...identity, ...figures], width).map(paint.dim),
    ...labelled('task', plainText(agent.description, 600), options, MAX_TASK_LINES),
  ];
};

/** Joins facts side by side in as many lines as needed. */
const joined = (facts: readonly string[], width: number): readonly string[] => {
  const lines: string[] = [];
  for (const fact of facts) {
    const longer = lines.length === 0 ? fact : `${lines.at(-1)} · ${fact}`;
    if (lines.length > 0 && textWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(cutText(fact, width));
  }
  return lines;
};

const listLines = (agent: AgentView, options: AgentDetailOptions): readonly string[] => {
  const { now, paint } = options;
  const { calls, questions, stop } = agent;
  const wait = waitText(agent, now);
  const end =
    stop === null || isLiveAgent(agent)
      ? ''
      : `${stop.reason}${stop.detail === null ? '' : `: ${stop.detail}`}`;
  const timed = (text: string, at: number) => `${plainText(text)}  ${formatAge(now - at)}`;
  return [
    ...limitList(
      questions.map(
        ({ description, since, question }) =>
          `${timed(description, since)}  ${plainText(question, 40)}`,
      ),
    ).flatMap((text, at) => labelled(at === 0 ? 'asks' : '', text, options, 1, paint.warn)),
    ...limitList(calls.map(({ description, since }) => timed(description, since))).flatMap(
      (text, at) => labelled(at === 0 ? 'does' : '', text, options, 1),
    ),
    ...(wait === '' ? [] : labelled('waits', wait, options, 2, paint.accent)),
    ...(end === '' ? [] : labelled('end', plainText(end, 400), options, 2)),
  ];
};

const limitList = (texts: readonly string[]): readonly string[] => {
  if (texts.length <= MAX_LISTED) return texts;
  const shown = texts.slice(0, MAX_LISTED - 1);
  return [...shown, `and ${texts.length - shown.length} more`];
};

/** Returns text of at most `maxLines` lines behind a label. */
const labelled = (
  label: string,
  text: string,
  { width, paint }: AgentDetailOptions,
  maxLines: number,
  tint: (text: string) => string = (plain) => plain,
): readonly string[] => {
  if (text === '') return [];
  const room = Math.max(8, width - LABEL_WIDTH);
  const pieces = maxLines === 1 ? [text] : foldLine(text, room);
  const shown = pieces.slice(0, maxLines);
  if (pieces.length > maxLines) shown[maxLines - 1] = `${shown[maxLines - 1] ?? ''} …`;
  return shown.map((piece, at) => {
    const head = (at === 0 ? label : '').padEnd(LABEL_WIDTH);
    return `${paint.dim(head)}${tint(cutText(piece.trimEnd(), room))}`;
  });
};

/** Returns '' for a permission wait, because the question is listed above. */
const waitText = ({ wait }: AgentView, now: number): string =>
  wait === null || wait.kind === 'permission'
    ? ''
    : `${formatAgentWait(wait).replace(/^waits (?=for |until )/, '')}  ${formatAge(now - wait.since)}`;
