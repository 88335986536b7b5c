/**
 * A session as one HTML page that needs nothing else: no file, no network, and no script to be read.
 * The policy in its head lets nothing run or load but what is written here.
 */
import { hash } from 'node:crypto';
import { VERSION } from '../../sdk/version.js';
import { count, plural } from '../../terminal/text/format-numbers.js';
import { clockTime } from '../../terminal/text/format-time.js';
import type { SwarmReport } from '../../views/report/swarm-report.js';
import { AgentNames } from './agent-names.js';
import { agentTable } from './agent-table.js';
import { pauseNote } from './chart-frame.js';
import { duration } from './durations.js';
import { headline, titleOf } from './headline.js';
import { Html, html } from './html-text.js';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';
import { permissionTable } from './permission-table.js';
import { type Chart, spendingCharts } from './spending-charts.js';
import { TimeAxis } from './time-axis.js';
import { timelineChart } from './timeline-chart.js';

/** What each of our pages begins with, so that no other file is taken for one. */
export const PAGE_MARK = '<!doctype html>\n<!-- skein report';

export const reportPage = (report: SwarmReport): string => {
  const axis = new TimeAxis(report.from, report.to, report.pauses);
  const names = new AgentNames(report);
  const charts = spendingCharts(report, axis);
  const page = html`
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="skein">
<title>${titleOf(report)} · swarm report</title>
<style>${new Html(PAGE_STYLE)}</style>
</head>
<body>
<main>
${headline(report)}
${timelineChart(report, axis, names)}
<div class="charts">
${charts.map((chart) => chart.html)}</div>
${agentTable(report, names)}
${permissionTable(report, names)}
${footnotes(report, axis)}
</main>
<script type="application/json" id="data">${dataOf(axis, charts)}</script>
<script>${new Html(PAGE_SCRIPT)}</script>
</body>
</html>
`;
  return `${PAGE_MARK} -->${page.text}`;
};

const digestOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

const POLICY = new Html(
  `default-src 'none'; base-uri 'none'; form-action 'none'; script-src ${digestOf(PAGE_SCRIPT)}; style-src ${digestOf(PAGE_STYLE)}`,
);

/** For the script: figures and words of ours only. */
const dataOf = (axis: TimeAxis, charts: readonly Chart[]): Html => {
  const data = {
    axis: axis.pieces.map(({ from, to, x0, x1 }) => [from, to, x0, x1]),
    charts: Object.fromEntries(charts.map(({ id, hover }) => [id, hover])),
  };
  const rounded = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(7)) : value;
  return new Html(JSON.stringify(data, rounded).replaceAll('<', '\\u003c'));
};

/** How to read it, and what it does not show. */
const footnotes = (report: SwarmReport, axis: TimeAxis): Html => {
  const { writtenAt, thinned, cost } = report;
  const notes = [
    'Times are counted from the first event.',
    pauseNote(axis),
    thinned.spans === 0
      ? undefined
      : `${plural(thinned.spans, 'stay')} in a state of less than ${duration(thinned.shortestSpanMs)} ${thinned.spans === 1 ? 'is' : 'are'} drawn as part of what came before or after, so that each row has about its share of every state; the figures, and how many work at once, count all of them.`,
    thinned.points === 0
      ? undefined
      : `${plural(thinned.points, 'request')} share a step of the curves with a later one; the sums count all of them.`,
    `Costs are at the list prices of ${cost.pricesVersion}, in US dollars; tokens are as the server counted them.`,
    cost.cache.missCount === 0
      ? undefined
      : `${count(cost.cache.lostTokens)} tokens were in the cache and not read; \`skein cost ${report.session}\` says why.`,
  ];
  return html`<footer>
<ul>${notes.map((note) => (note === undefined ? undefined : html`<li>${note}</li>\n`))}</ul>
<p>Written by skein ${VERSION} at ${clockTime(writtenAt)}.</p>
</footer>`;
};
