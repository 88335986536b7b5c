/** Permission table of the page: questions with answers, denied calls, rulings by rule. */

import { formatNumber, plural } from '../../terminal/text/format-number.js';
import { formatIsoTime, formatTime } from '../../terminal/text/format-time.js';
import type {
  PermissionEntry,
  PermissionReport,
  RulingCause,
  RulingCount,
} from '../../views/calls/permission-history.js';
import type { SwarmReport } from '../../views/report/swarm-report.js';
import type { AgentNames } from './agent-names.js';
import { formatDuration } from './format-duration.js';
import { type Html, html, redactedText } from './html.js';

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
  const ruled = rulings.reduce(
    (sum, ruling) => sum + (ruling.behavior === 'ask' ? 0 : ruling.count),
    0,
  );
  const older =
    entriesLeftOut === 0
      ? ''
      : ` The ${formatNumber(entriesLeftOut)} oldest of them are not listed.`;
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
  const subject = redactedText(description === '' ? tool : description, 400);
  const why = question === null ? '' : redactedText(reason, 400);
  return html`<tr>
<td data-label="When" title="${formatTime(askedAt)}"><time datetime="${formatIsoTime(askedAt) ?? ''}">${formatDuration(askedAt - from)}</time></td>
<td data-label="Agent"><span class="name">${names.of(agent)}</span></td>
<td data-label="For what"><code>${subject}</code><small>${why}</small></td>
<td data-label="Ruling"><span class="badge ${OUTCOMES[outcome]}">${outcome}</span>${lastingOf(entry)}</td>
<td data-label="By whom and why">${deciderOf(entry)}<small>${causeOf(entry)}</small></td>
<td data-label="Waited" class="number">${waitText(entry)}</td>
</tr>
`;
};

const waitText = ({ question, outcome, waitedMs }: PermissionEntry): string => {
  if (question === null) return 'not asked';
  return `${formatDuration(waitedMs)}${outcome === 'open' ? ' so far' : ''}`;
};

const OUTCOMES: Readonly<Record<PermissionEntry['outcome'], string>> = {
  allowed: 'good',
  denied: 'bad',
  withdrawn: 'warn',
  open: 'live',
};

const lastingOf = ({ scope, granted, outcome }: PermissionEntry): Html | undefined => {
  if (outcome !== 'allowed' || scope === null) return undefined;
  const rule = granted === null ? '' : `: ${redactedText(granted, 120)}`;
  return html`<small>${scope === 'once' ? 'once' : `for the ${scope}${rule}`}</small>`;
};

const deciderOf = ({ by, question, outcome, ruling, step }: PermissionEntry): string => {
  const rulingText = redactedText(ruling ?? '', 400);
  if (outcome === 'open') return 'no answer yet';
  if (outcome === 'withdrawn') return 'no answer';
  if (by !== null) return `${redactedText(by, 60)}${rulingText === '' ? '' : `: ${rulingText}`}`;
  return question === null || rulingText === ''
    ? `step ${redactedText(step, 30)}${rulingText === '' ? '' : `: ${rulingText}`}`
    : rulingText;
};

/** Returns the rule with its file and line, or the hook. */
const causeOf = ({ rule, source, file, line, hook }: RulingCause): string => {
  const at = line === null ? '' : `:${line}`;
  const origin = file === null ? redactedText(source ?? '', 60) : `${redactedText(file, 300)}${at}`;
  return [
    ...(rule === null
      ? []
      : [`rule ${redactedText(rule, 200)}${origin === '' ? '' : ` of ${origin}`}`]),
    ...(hook === null ? [] : [`hook ${redactedText(hook, 200)}`]),
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
<td data-label="Step">${STEPS.get(cause.step) ?? redactedText(cause.step, 40)}</td>
<td data-label="Rule or hook"><code>${causeOf(cause)}</code></td>
<td data-label="Calls" class="number">${formatNumber(cause.count)}</td>
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
  ['deny', 'deny rules and built-in denials'],
  ['ask', 'ask rules and built-in questions'],
  ['mode', 'the permission mode'],
  ['allow', 'allow rules'],
  ['callback', 'a person or a program that answers'],
  ['reject', 'no step allowed it'],
]);
