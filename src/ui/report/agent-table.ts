/** Agent table of the page: the tree with task, usage, cost and outcome. */

import { formatMoney, formatNumber, formatPercent } from '../../terminal/text/format-number.js';
import { cacheReadPercent } from '../../views/cost/cache-read-percent.js';
import { isBusy } from '../../views/report/state-timeline.js';
import type { AgentReport, SwarmReport } from '../../views/report/swarm-report.js';
import { type AgentNames, depthClass } from './agent-names.js';
import { agentOutcome } from './agent-outcome.js';
import { compactNumber } from './compact-number.js';
import { formatDuration } from './format-duration.js';
import { reportTitle } from './headline.js';
import { type Html, html, redactedText } from './html.js';

interface Column {
  readonly head: string;
  readonly className?: string;
  readonly meaning?: string;
}

const COLUMNS: readonly Column[] = [
  { head: 'Agent' },
  { head: 'Task' },
  { head: 'Turns', className: 'number' },
  { head: 'Tokens in', className: 'number', meaning: 'sent to models, cached or not' },
  {
    head: 'Cached',
    className: 'number',
    meaning: 'share of the sent tokens that was read from the cache',
  },
  { head: 'Tokens out', className: 'number', meaning: 'answered by models' },
  { head: 'Cost', className: 'number' },
  {
    head: 'At work',
    className: 'number',
    meaning: 'time in which the agent was neither idle, queued nor lost',
  },
  { head: 'How it ended' },
];

export const agentTable = (report: SwarmReport, names: AgentNames): Html => {
  const { agents } = report;
  const maxCost = agents.reduce((max, { costUsd }) => Math.max(max, costUsd ?? 0), 0);
  return html`<section aria-labelledby="agents">
<h2 id="agents">Agents</h2>
<div class="sheet"><table class="wide" data-rows="agents">
<caption class="hidden">The agents as a tree, each below its parent</caption>
<thead><tr>${COLUMNS.map(({ head, className = '', meaning = '' }) => html`<th scope="col" class="${className}" title="${meaning}">${head}</th>`)}</tr></thead>
<tbody>
${agents.map((agent) => row(agent, names.of(agent.id), report, maxCost))}</tbody>
</table></div>
</section>`;
};

const row = (agent: AgentReport, name: string, report: SwarmReport, maxCost: number): Html => {
  const { id, depth, turns, outputTokens, costUsd, cacheReadTokens } = agent;
  const sent = agent.inputTokens + cacheReadTokens + agent.cacheWriteTokens;
  const { word, className, detail } = agentOutcome(agent);
  const busyMs = workOf(agent);
  const cached = cacheReadPercent(cacheReadTokens, sent);
  return html`<tr data-agent="${id}">
<th scope="row" class="${depthClass(depth)}"><span class="name">${name}</span><small>${redactedText(id, 60)}</small></th>
<td data-label="Task">${taskOf(agent, report)}<small>${kindOf(agent, report)}</small></td>
<td data-label="Turns" class="number" data-value="${turns}">${formatNumber(turns)}</td>
<td data-label="Tokens in" class="number" data-value="${sent}">${compactNumber(sent)}</td>
<td data-label="Cached" class="number" data-value="${cached ?? 0}">${cached === null ? '–' : formatPercent(cached)}</td>
<td data-label="Tokens out" class="number" data-value="${outputTokens}">${compactNumber(outputTokens)}</td>
<td data-label="Cost" class="number" data-value="${(costUsd ?? 0) * 1e6}">${formatMoney(costUsd)}${costBar(costUsd ?? 0, maxCost)}</td>
<td data-label="At work" class="number" data-value="${busyMs}">${formatDuration(busyMs)}</td>
<td data-label="How it ended"><span class="badge ${className}">${word}</span><small>${detail}</small></td>
</tr>
`;
};

const taskOf = ({ kind, description }: AgentReport, report: SwarmReport): string =>
  kind === 'lead' ? reportTitle(report) : redactedText(description, 300);

/** Returns kind, type, and the model if it differs from the session's. */
const kindOf = ({ kind, type, model }: AgentReport, report: SwarmReport): string =>
  [kind === 'lead' ? null : kind, type, model === report.model ? null : model]
    .flatMap((text) => (text === null ? [] : [redactedText(text, 80)]))
    .join(' · ');

/** Returns a bar of the cost relative to the most expensive agent. */
const costBar = (cost: number, maxCost: number): Html | undefined =>
  maxCost === 0
    ? undefined
    : html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="4" rx="2"/><rect class="c-cost" width="${(Math.max(0, cost) / maxCost) * 100}" height="4" rx="2"/></svg>`;

const workOf = ({ times }: AgentReport): number =>
  Object.entries(times).reduce((sum, [state, ms]) => sum + (isBusy(state) ? ms : 0), 0);
