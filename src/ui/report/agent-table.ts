/** The tree of agents as a table: what each was for, what it took, and how it ended. */

import { count, money, percent } from '../../terminal/text/format-numbers.js';
import { cacheReadPercent } from '../../views/cost/cache-share.js';
import { isBusy } from '../../views/report/state-timeline.js';
import type { AgentReport, SwarmReport } from '../../views/report/swarm-report.js';
import { type AgentNames, depthClass } from './agent-names.js';
import { fateOf } from './agent-outcomes.js';
import { duration, shortCount } from './durations.js';
import { titleOf } from './headline.js';
import { type Html, html, words } from './html-text.js';

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
  { head: 'Cached', className: 'number', meaning: 'the part of that that was read from the cache' },
  { head: 'Tokens out', className: 'number', meaning: 'answered by models' },
  { head: 'Cost', className: 'number' },
  {
    head: 'At work',
    className: 'number',
    meaning: 'the time when it was neither idle, queued nor lost',
  },
  { head: 'How it ended' },
];

export const agentTable = (report: SwarmReport, names: AgentNames): Html => {
  const { agents } = report;
  const dearest = agents.reduce((most, { costUsd }) => Math.max(most, costUsd ?? 0), 0);
  return html`<section aria-labelledby="agents">
<h2 id="agents">Agents</h2>
<div class="sheet"><table class="wide" data-rows="agents">
<caption class="hidden">The agents as a tree, each below the one that it works for</caption>
<thead><tr>${COLUMNS.map(({ head, className = '', meaning = '' }) => html`<th scope="col" class="${className}" title="${meaning}">${head}</th>`)}</tr></thead>
<tbody>
${agents.map((agent) => row(agent, names.of(agent.id), report, dearest))}</tbody>
</table></div>
</section>`;
};

const row = (agent: AgentReport, name: string, report: SwarmReport, dearest: number): Html => {
  const { id, depth, turns, outputTokens, costUsd, cacheReadTokens } = agent;
  const sent = agent.inputTokens + cacheReadTokens + agent.cacheWriteTokens;
  const { word, className, detail } = fateOf(agent);
  const work = workOf(agent);
  const cached = cacheReadPercent(cacheReadTokens, sent);
  return html`<tr data-agent="${id}">
<th scope="row" class="${depthClass(depth)}"><span class="name">${name}</span><small>${words(id, 60)}</small></th>
<td data-label="Task">${taskOf(agent, report)}<small>${kindOf(agent, report)}</small></td>
<td data-label="Turns" class="number" data-value="${turns}">${count(turns)}</td>
<td data-label="Tokens in" class="number" data-value="${sent}">${shortCount(sent)}</td>
<td data-label="Cached" class="number" data-value="${cached ?? 0}">${cached === null ? '–' : percent(cached)}</td>
<td data-label="Tokens out" class="number" data-value="${outputTokens}">${shortCount(outputTokens)}</td>
<td data-label="Cost" class="number" data-value="${(costUsd ?? 0) * 1e6}">${money(costUsd)}${costBar(costUsd ?? 0, dearest)}</td>
<td data-label="At work" class="number" data-value="${work}">${duration(work)}</td>
<td data-label="How it ended"><span class="badge ${className}">${word}</span><small>${detail}</small></td>
</tr>
`;
};

const taskOf = ({ kind, description }: AgentReport, report: SwarmReport): string =>
  kind === 'lead' ? titleOf(report) : words(description, 300);

/** How it works for its parent, as what, and on which model if that is another one. */
const kindOf = ({ kind, type, model }: AgentReport, report: SwarmReport): string =>
  [kind === 'lead' ? null : kind, type, model === report.model ? null : model]
    .flatMap((it) => (it === null ? [] : [words(it, 80)]))
    .join(' · ');

/** Beside the figure: how much that is of what the dearest agent cost. */
const costBar = (cost: number, dearest: number): Html | undefined =>
  dearest === 0
    ? undefined
    : html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="4" rx="2"/><rect class="c-cost" width="${(Math.max(0, cost) / dearest) * 100}" height="4" rx="2"/></svg>`;

const workOf = ({ times }: AgentReport): number =>
  Object.entries(times).reduce((sum, [state, ms]) => sum + (isBusy(state) ? ms : 0), 0);
