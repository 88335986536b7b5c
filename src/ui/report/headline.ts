/** Headline of the page: the session and its most important figures. */

import {
  formatMoney,
  formatNumber,
  formatPercent,
  plural,
} from '../../terminal/text/format-number.js';
import { formatIsoTime, formatTime } from '../../terminal/text/format-time.js';
import type { SwarmReport } from '../../views/report/swarm-report.js';
import { agentOutcome } from './agent-outcome.js';
import { compactNumber } from './compact-number.js';
import { formatDuration } from './format-duration.js';
import { type Html, html, redactedText } from './html.js';

export const headline = (report: SwarmReport): Html => {
  const { session, cwd, model, isRunning, writtenAt, from, to, continues } = report;
  const name = reportTitle(report);
  const state = isRunning
    ? html`<p class="notice" role="status"><strong>Still running.</strong> This page shows the session as it was at ${formatTime(writtenAt)}; run the command again for a newer page.</p>`
    : undefined;
  const before =
    continues === null
      ? undefined
      : html`<p class="notice">This session continues ${redactedText(continues, 80)}. The work and cost of that session are not included.</p>`;
  return html`<header>
<p class="kicker">Swarm report</p>
<h1>${name}</h1>
<p class="muted">${session} · ${redactedText(cwd, 300)} · ${redactedText(model, 80)}</p>
<p class="muted"><time datetime="${formatIsoTime(from) ?? ''}">${formatTime(from)}</time> to <time datetime="${formatIsoTime(to) ?? ''}">${formatTime(to)}</time> (${zoneOf(from)})</p>
${state}${before}
<dl class="cards">
${cardsOf(report).map(({ label, value, note }) => html`<div class="card"><dt>${label}</dt><dd>${value}</dd><dd class="muted">${note}</dd></div>\n`)}</dl>
</header>`;
};

/** A session keeps this many characters of its first prompt as title. */
const MAX_TITLE_LENGTH = 80;

/** Returns the title of the session, or its id. */
export const reportTitle = ({ session, title }: SwarmReport): string => {
  const text = redactedText(title, 200);
  return text === '' ? session : `${text}${title.length < MAX_TITLE_LENGTH ? '' : '…'}`;
};

interface Card {
  readonly label: string;
  readonly value: string;
  readonly note: string;
}

const cardsOf = (report: SwarmReport): readonly Card[] => {
  const { agents, turns, activeMs, from, to } = report;
  const { total } = report.cost;
  const { requests, failedAttempts, costUsd, knownCostUsd } = total;
  const failed = failedAttempts === 0 ? '' : `, ${formatNumber(failedAttempts)} failed`;
  const isWhole = to - from - activeMs < 1_000;
  return [
    { label: 'Agents', value: formatNumber(agents.length), note: outcomesOf(report) },
    { label: 'Turns', value: formatNumber(turns), note: `${plural(requests, 'request')}${failed}` },
    {
      label: 'Time',
      value: formatDuration(activeMs),
      note: isWhole
        ? 'from the first event to the last'
        : `${formatDuration(to - from)} with pauses`,
    },
    {
      label: 'Cost',
      value: costUsd === null ? `≥ ${formatMoney(knownCostUsd)}` : formatMoney(costUsd),
      note: costUsd === null ? 'some prices are not known' : 'at list prices',
    },
    ...cacheCards(report),
    questionCard(report),
  ];
};

const cacheCards = ({ cost: { cache, total } }: SwarmReport): readonly Card[] => {
  const { readPercent, readTokens, promptTokens } = cache;
  const { costUsd, uncachedCostUsd, savedPercent } = total;
  const share: Card = {
    label: 'Read from the cache',
    value: readPercent === null ? '–' : formatPercent(readPercent),
    note:
      readPercent === null
        ? 'nothing was sent'
        : `${compactNumber(readTokens)} of ${compactNumber(promptTokens)} tokens sent`,
  };
  if (costUsd === null || uncachedCostUsd === null || savedPercent === null) return [share];
  const saved = uncachedCostUsd - costUsd;
  return [
    share,
    {
      label: saved < 0 ? 'The cache cost' : 'Saved by the cache',
      value: formatMoney(Math.abs(saved)),
      note: `${formatPercent(Math.abs(savedPercent))} of ${formatMoney(uncachedCostUsd)}`,
    },
  ];
};

const questionCard = ({ permissions }: SwarmReport): Card => {
  const { questions, denials, waitedMs } = permissions;
  const denied = denials === 0 ? 'nothing denied' : `${plural(denials, 'call')} denied`;
  return {
    label: 'Questions',
    value: formatNumber(questions),
    note: questions === 0 ? denied : `${formatDuration(waitedMs)} of waiting, ${denied}`,
  };
};

const outcomesOf = ({ agents }: SwarmReport): string => {
  const outcomes = new Map<string, number>();
  for (const agent of agents) {
    const { word } = agentOutcome(agent);
    outcomes.set(word, (outcomes.get(word) ?? 0) + 1);
  }
  return [...outcomes].map(([word, count]) => `${formatNumber(count)} ${word}`).join(', ');
};

/** Returns the time zone of this process: `UTC+2`, `UTC−3:30`. */
const zoneOf = (ts: number): string => {
  const minutes = -new Date(ts).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
};
