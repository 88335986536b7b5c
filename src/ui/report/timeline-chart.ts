/** Timeline chart: a row of states for each agent, below a curve of the agents at work. */

import { plural } from '../../terminal/text/format-number.js';
import type { ConcurrencyCurve } from '../../views/report/concurrency-curve.js';
import { isBusy } from '../../views/report/state-timeline.js';
import type { AgentReport, SwarmReport } from '../../views/report/swarm-report.js';
import { type AgentNames, depthClass } from './agent-names.js';
import { axisTicks, pauseStripes } from './axis-ticks.js';
import { formatDuration } from './format-duration.js';
import { type Html, html, redactedText } from './html.js';
import { stateAreas } from './state-areas.js';
import { isThin, sortedStates, stateStyle, swatch } from './state-style.js';
import { AXIS_WIDTH, type TimeAxis } from './time-axis.js';

/** Minimum width of a state, so that it stays visible. */
const MIN_STATE_WIDTH = 0.7;
/** Maximum rows without a scrolling frame. */
const MAX_UNSCROLLED_ROWS = 60;

export const timelineChart = (report: SwarmReport, axis: TimeAxis, names: AgentNames): Html => {
  const { agents } = report;
  const scrolls = agents.length > MAX_UNSCROLLED_ROWS ? ' scrolls' : '';
  return html`<section aria-labelledby="timeline">
${finder}
<h2 id="timeline">Timeline</h2>
${legend(agents)}
<div class="lanes${scrolls}" data-rows="timeline">
<div class="lane axis" aria-hidden="true"><div class="who"></div><svg class="ticks">${axisTicks(axis, 13)}</svg></div>
<div class="body">
${gridLines(axis)}
${agents.length > 1 ? concurrencyLane(report.atWork, axis) : undefined}
<ul class="rows" aria-label="${plural(agents.length, 'agent')} over time">
${agents.map((agent) => lane(agent, axis, names.of(agent.id)))}
</ul>
</div>
</div>
</section>`;
};

/** Search field. Hidden without the script, which does the search. */
const finder = html`<p class="find" hidden><label class="hidden" for="find">Find an agent</label><input type="search" id="find" placeholder="Find an agent" autocomplete="off"> <span id="found" class="muted" role="status"></span></p>`;

/** Returns the colour and the total time of each state. */
const legend = (agents: readonly AgentReport[]): Html => {
  const times = new Map<string, number>();
  for (const agent of agents) {
    for (const [state, ms] of Object.entries(agent.times)) {
      times.set(state, (times.get(state) ?? 0) + ms);
    }
  }
  const items = sortedStates(times.keys()).map((state) => {
    const { className, meaning } = stateStyle(state);
    return html`<li title="${meaning}">${swatch(className)} ${state} <span class="muted">${formatDuration(times.get(state) ?? 0)}</span></li>\n`;
  });
  return html`<ul class="legend" aria-label="What the colours mean, and how long all agents together were in each state">
${items}</ul>`;
};

const gridLines = (axis: TimeAxis): Html =>
  html`<svg class="grid" viewBox="0 0 ${AXIS_WIDTH} 1" preserveAspectRatio="none" aria-hidden="true">${pauseStripes(axis, 1)}<path d="${axis.ticks().map(({ x }) => html`M${x} 0v1`)}"/></svg>`;

const concurrencyLane = (atWork: ConcurrencyCurve, axis: TimeAxis): Html => {
  const { most: maxAgents } = atWork;
  const label = `Agents at work at the same time, at most ${maxAgents}`;
  return html`<div class="lane crowd"><div class="who"><span class="name">at work</span> <span class="muted">at most ${maxAgents}</span></div><svg class="bar" viewBox="0 0 ${AXIS_WIDTH} 100" preserveAspectRatio="none" role="img" aria-label="${label}">${stateAreas(atWork, axis)}</svg></div>`;
};

const lane = (agent: AgentReport, axis: TimeAxis, name: string): Html => {
  const task = redactedText(agent.description, 120);
  const rects = agent.spans.map(({ state, from, to }) => {
    const [x0, x1] = [axis.x(from), axis.x(to)];
    const [y, height] = isThin(state) ? [0.38, 0.24] : [0, 1];
    return html`<rect class="${stateStyle(state).className}" x="${x0}" y="${y}" width="${Math.max(MIN_STATE_WIDTH, x1 - x0)}" height="${height}"/>`;
  });
  return html`<li class="lane" data-agent="${agent.id}"><div class="who ${depthClass(agent.depth)}" title="${name}${task === '' ? '' : `: ${task}`}"><span class="name">${name}</span> <span class="muted">${task}</span></div><svg class="bar" viewBox="0 0 ${AXIS_WIDTH} 1" preserveAspectRatio="none" role="img" aria-label="${name}: ${describeRow(agent)}">${rects}</svg></li>
`;
};

/** Describes a row for screen readers. */
const describeRow = ({ times }: AgentReport): string => {
  const states = sortedStates(Object.keys(times)).filter(isBusy);
  if (states.length === 0) return 'never at work';
  return states.map((state) => `${state} ${formatDuration(times[state] ?? 0)}`).join(', ');
};
