/** Who asked for what and who allowed or denied it, and what the rules decided without asking. */

import { count, plural } from '../../terminal/text/format-numbers.js';
import { clockTime, isoTime } from '../../terminal/text/format-time.js';
import type {
  PermissionEntry,
  PermissionReport,
  RulingCause,
  RulingCount,
} from '../../views/calls/permission-history.js';
import type { SwarmReport } from '../../views/report/swarm-report.js';
import type { AgentNames } from './agent-names.js';
import { duration } from './durations.js';
import { type Html, html, words } from './html-text.js';

export const permissionTable = (report: SwarmReport, names: AgentNames): Html => {
  const { permissions } = report;
  return html`<section aria-labelledby="permissions">
<h2 id="permissions">Permissions</h2>
<p class="muted">${summaryOf(permissions)}</p>
${permissions.entries.length === 0 ? undefined : history(permissions.entries, report.from, names)}
${permissions.rulings.length === 0 ? undefined : rulings(permissions.rulings)}
</section>`;
};

const summaryOf = (permissions: PermissionReport): string => {
  const { questions, denials, entriesLeftOut, rulings } = permissions;
  const ruled = rulings.reduce((sum, it) => sum + (it.behavior === 'ask' ? 0 : it.count), 0);
  const older =
    entriesLeftOut === 0 ? '' : ` The ${count(entriesLeftOut)} oldest of them are not listed.`;
  return `${plural(questions, 'question')} asked and ${plural(denials, 'call')} denied, of ${plural(ruled + permissions.rulingsLeftOut, 'ruling')}.${older}`;
};

const history = (entries: readonly PermissionEntry[], from: number, names: AgentNames): Html =>
  html`<div class="sheet"><table class="wide">
<caption>Questions, and calls that were denied</caption>
<thead><tr><th scope="col">When</th><th scope="col">Agent</th><th scope="col">For what</th><th scope="col">Ruling</th><th scope="col">By whom and why</th><th scope="col" class="number">Waited</th></tr></thead>
<tbody>
${entries.map((entry) => entryRow(entry, from, names))}</tbody>
</table></div>`;

const entryRow = (entry: PermissionEntry, from: number, names: AgentNames): Html => {
  const { agent, tool, description, reason, askedAt, outcome, question } = entry;
  const what = words(description === '' ? tool : description, 400);
  const why = question === null ? '' : words(reason, 400);
  return html`<tr>
<td data-label="When" title="${clockTime(askedAt)}"><time datetime="${isoTime(askedAt) ?? ''}">${duration(askedAt - from)}</time></td>
<td data-label="Agent"><span class="name">${names.of(agent)}</span></td>
<td data-label="For what"><code>${what}</code><small>${why}</small></td>
<td data-label="Ruling"><span class="badge ${OUTCOMES[outcome]}">${outcome}</span>${lastingOf(entry)}</td>
<td data-label="By whom and why">${whoOf(entry)}<small>${causeOf(entry)}</small></td>
<td data-label="Waited" class="number">${waitText(entry)}</td>
</tr>
`;
};

const waitText = ({ question, outcome, waitedMs }: PermissionEntry): string => {
  if (question === null) return 'not asked';
  return `${duration(waitedMs)}${outcome === 'open' ? ' so far' : ''}`;
};

const OUTCOMES: Readonly<Record<PermissionEntry['outcome'], string>> = {
  allowed: 'good',
  denied: 'bad',
  withdrawn: 'warn',
  open: 'live',
};

const lastingOf = ({ scope, granted, outcome }: PermissionEntry): Html | undefined => {
  if (outcome !== 'allowed' || scope === null) return undefined;
  const rule = granted === null ? '' : `: ${words(granted, 120)}`;
  return html`<small>${scope === 'once' ? 'once' : `for the ${scope}${rule}`}</small>`;
};

const whoOf = ({ by, question, outcome, ruling, step }: PermissionEntry): string => {
  const said = words(ruling ?? '', 400);
  if (outcome === 'open') return 'nobody yet';
  if (outcome === 'withdrawn') return 'nobody: it ended before';
  if (by !== null) return `${words(by, 60)}${said === '' ? '' : `: ${said}`}`;
  return question === null || said === ''
    ? `step ${words(step, 30)}${said === '' ? '' : `: ${said}`}`
    : said;
};

/** The rule with its file and line, or the hook. */
const causeOf = ({ rule, source, file, line, hook }: RulingCause): string => {
  const at = line === null ? '' : `:${line}`;
  const place = file === null ? words(source ?? '', 60) : `${words(file, 300)}${at}`;
  return [
    ...(rule === null ? [] : [`rule ${words(rule, 200)}${place === '' ? '' : ` of ${place}`}`]),
    ...(hook === null ? [] : [`hook ${words(hook, 200)}`]),
  ].join(', ');
};

const rulings = (counts: readonly RulingCount[]): Html =>
  html`<div class="sheet"><table class="wide">
<caption>What decided, and how often</caption>
<thead><tr><th scope="col">Ruling</th><th scope="col">Step</th><th scope="col">Rule or hook</th><th scope="col" class="number">Calls</th></tr></thead>
<tbody>
${counts.map(
  (cause) => html`<tr>
<td data-label="Ruling"><span class="badge ${BEHAVIORS[cause.behavior]}">${cause.behavior}</span></td>
<td data-label="Step">${STEPS.get(cause.step) ?? words(cause.step, 40)}</td>
<td data-label="Rule or hook"><code>${causeOf(cause)}</code></td>
<td data-label="Calls" class="number">${count(cause.count)}</td>
</tr>
`,
)}</tbody>
</table></div>`;

const BEHAVIORS: Readonly<Record<RulingCount['behavior'], string>> = {
  allow: 'good',
  deny: 'bad',
  ask: 'live',
};

const STEPS: ReadonlyMap<string, string> = new Map([
  ['deny', 'deny rules, and what is forbidden'],
  ['ask', 'ask rules, and what is always asked'],
  ['mode', 'the permission mode'],
  ['allow', 'allow rules'],
  ['callback', 'a person or a program that answers'],
  ['reject', 'nobody allowed it'],
]);
