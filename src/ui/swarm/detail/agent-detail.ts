/** All that is known of one agent, in a few lines beside or below the tree. */

import { ageText, stateText, whoText } from '../../../terminal/format/format-agent.js';
import { agentWaitWords } from '../../../terminal/format/format-wait.js';
import { money, percent, plural, shortCount } from '../../../terminal/text/format-numbers.js';
import { shortAge } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { cut, folded } from '../../../terminal/text/text-fit.js';
import { textWidth } from '../../../terminal/text/text-width.js';
import { type AgentView, calledOf, type SwarmView } from '../../../views/swarm/swarm-view.js';
import type { Look } from '../../screen/terminal-style.js';
import { groupOf, isLive, paintGroup, signOf } from '../agent-group.js';
import { CHART_COLUMNS, stateChart } from '../state-chart.js';
import type { Area } from '../swarm-layout.js';
import { tokensOf } from '../table/agent-sort.js';

/** Lines that a list of calls or questions may take. */
const MOST_LISTED = 4;
const MOST_TASK_LINES = 3;
const LABEL_WIDTH = 7;
/** From so many lines on there is room for the whole chart and for a transcript. */
const TALL = 26;
const ROOMY = 14;

export interface DetailPaper extends Area, Look {
  readonly now: number;
}

export const agentDetail = (
  swarm: SwarmView,
  agent: AgentView,
  paper: DetailPaper,
): readonly string[] => {
  const { height } = paper;
  const facts = [...factLines(swarm, agent, paper), ...listLines(agent, paper)];
  if (height < ROOMY) return facts.slice(0, Math.max(3, height - 4));
  const room = { ...paper, width: height < TALL ? CHART_COLUMNS - 1 : paper.width };
  const columns = Math.min(room.width, paper.width);
  const chart = stateChart(agent.state, { ...paper, columns });
  return [...facts, ...(height < TALL ? [] : ['']), ...chart];
};

/** Its name at the left and its state at the right. */
export const agentTitle = (agent: AgentView, { paint, unicode, width }: Look & Area): string => {
  const group = groupOf(agent);
  const state = `${signOf(group, unicode)} ${stateText(agent)}`;
  const who = cut(whoText(agent, agent.id), width - textWidth(state) - 2);
  const space = ' '.repeat(Math.max(1, width - textWidth(who) - textWidth(state)));
  return `${paint.strong(who)}${space}${paintGroup(group, paint)(state)}`;
};

const factLines = (swarm: SwarmView, agent: AgentView, paper: DetailPaper): readonly string[] => {
  const { width, paint, now } = paper;
  const { kind, model, worker, turns, cacheReadPercent, costUsd, lastActiveAt } = agent;
  const parent = swarm.agents.find(({ id }) => id === agent.parent);
  const what = kind === 'lead' ? `lead of ${swarm.session.id}` : kind;
  const cached = cacheReadPercent === null ? '' : `, ${percent(cacheReadPercent)} cached`;
  const identity = [
    what,
    ...(parent === undefined ? [] : [`for ${plainText(calledOf(parent), 40)}`]),
    ...(model === null ? [] : [plainText(model, 60)]),
    ...(worker === null ? [] : [`on worker ${plainText(worker, 60)}`]),
  ];
  const figures = [
    plural(turns, 'turn'),
    `${shortCount(tokensOf(agent))} tokens${cached}`,
    ...(agent.contextTokens === null ? [] : [`context ${shortCount(agent.contextTokens)}`]),
    money(costUsd),
    `${ageText(agent, now)} old`,
    `active ${shortAge(now - lastActiveAt)} ago`,
  ];
  return [
    agentTitle(agent, paper),
    ...joined([...identity, ...figures], width).map(paint.dim),
    ...labelled('task', plainText(agent.description, 600), paper, MOST_TASK_LINES),
  ];
};

/** Side by side, in as many lines as they need. */
const joined = (facts: readonly string[], width: number): readonly string[] => {
  const lines: string[] = [];
  for (const fact of facts) {
    const longer = lines.length === 0 ? fact : `${lines.at(-1)} · ${fact}`;
    if (lines.length > 0 && textWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(cut(fact, width));
  }
  return lines;
};

const listLines = (agent: AgentView, paper: DetailPaper): readonly string[] => {
  const { now, paint } = paper;
  const { calls, questions, stop } = agent;
  const wait = waitText(agent, now);
  const end =
    stop === null || isLive(agent)
      ? ''
      : `${stop.reason}${stop.detail === null ? '' : `: ${stop.detail}`}`;
  const timed = (text: string, at: number) => `${plainText(text)}  ${shortAge(now - at)}`;
  return [
    ...some(
      questions.map(
        ({ description, since, question }) =>
          `${timed(description, since)}  ${plainText(question, 40)}`,
      ),
    ).flatMap((text, at) => labelled(at === 0 ? 'asks' : '', text, paper, 1, paint.warn)),
    ...some(calls.map(({ description, since }) => timed(description, since))).flatMap((text, at) =>
      labelled(at === 0 ? 'does' : '', text, paper, 1),
    ),
    ...(wait === '' ? [] : labelled('waits', wait, paper, 2, paint.accent)),
    ...(end === '' ? [] : labelled('end', plainText(end, 400), paper, 2)),
  ];
};

const some = (texts: readonly string[]): readonly string[] => {
  if (texts.length <= MOST_LISTED) return texts;
  const shown = texts.slice(0, MOST_LISTED - 1);
  return [...shown, `and ${texts.length - shown.length} more`];
};

/** A word in front of text that may take several lines. */
const labelled = (
  label: string,
  text: string,
  { width, paint }: DetailPaper,
  most: number,
  tint: (text: string) => string = (plain) => plain,
): readonly string[] => {
  if (text === '') return [];
  const room = Math.max(8, width - LABEL_WIDTH);
  const pieces = most === 1 ? [text] : folded(text, room);
  const shown = pieces.slice(0, most);
  if (pieces.length > most) shown[most - 1] = `${shown[most - 1] ?? ''} …`;
  return shown.map((piece, at) => {
    const head = (at === 0 ? label : '').padEnd(LABEL_WIDTH);
    return `${paint.dim(head)}${tint(cut(piece.trimEnd(), room))}`;
  });
};

/** A question is listed already. */
const waitText = ({ wait }: AgentView, now: number): string =>
  wait === null || wait.kind === 'permission'
    ? ''
    : `${agentWaitWords(wait).replace(/^waits (?=for |until )/, '')}  ${shortAge(now - wait.since)}`;
