/**
 * Report page: a session as a self-contained HTML page that is readable without scripts.
 *
 * Its content security policy allows only the script and style of this page.
 */
import { hash } from 'node:crypto';
import { VERSION } from '../../sdk/assembly/version.js';
import { formatNumber, plural } from '../../terminal/text/format-number.js';
import { formatTime } from '../../terminal/text/format-time.js';
import type { SwarmReport } from '../../views/report/swarm-report.js';
import { AgentNames } from './agent-names.js';
import { agentTable } from './agent-table.js';
import { pauseNote } from './chart-frame.js';
import { formatDuration } from './format-duration.js';
import { headline, reportTitle } from './headline.js';
import { Html, html } from './html.js';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';
import { permissionTable } from './permission-table.js';
import { type SpendingChart, spendingCharts } from './spending-charts.js';
import { TimeAxis } from './time-axis.js';
import { timelineChart } from './timeline-chart.js';

/** Start of every report page, to tell it from other files. */
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
<title>${reportTitle(report)} · swarm report</title>
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

/** Returns the data for the script: numbers and fixed names only. */
const dataOf = (axis: TimeAxis, charts: readonly SpendingChart[]): Html => {
  const data = {
    axis: axis.pieces.map(({ from, to, x0, x1 }) => [from, to, x0, x1]),
    charts: Object.fromEntries(charts.map(({ id, hover }) => [id, hover])),
  };
  const rounded = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(7)) : value;
  return new Html(JSON.stringify(data, rounded).replaceAll('<', '\\u003c'));
};

/** Returns notes about rounding, prices and omitted details. */
const footnotes = (report: SwarmReport, axis: TimeAxis): Html => {
  const { writtenAt, thinned, cost } = report;
  const notes = [
    'Times are counted from the first event.',
    pauseNote(axis),
    thinned.spans === 0
      ? undefined
      : `${plural(thinned.spans, 'stay')} in a state of less than ${formatDuration(thinned.shortestSpanMs)} ${thinned.spans === 1 ? 'is' : 'are'} drawn as part of a neighbouring state. The figures and the curve of agents at work count all of them.`,
    thinned.points === 0
      ? undefined
      : `${plural(thinned.points, 'request')} share a step of the curves with a later one; the sums count all of them.`,
    `Costs are at the list prices of ${cost.pricesVersion}, in US dollars; tokens are as the server counted them.`,
    cost.cache.missCount === 0
      ? undefined
      : `${formatNumber(cost.cache.lostTokens)} tokens were in the cache and not read; \`skein cost ${report.session}\` says why.`,
  ];
  return html`<footer>
<ul>${notes.map((note) => (note === undefined ? undefined : html`<li>${note}</li>\n`))}</ul>
<p>Written by skein ${VERSION} at ${formatTime(writtenAt)}.</p>
</footer>`;
};
