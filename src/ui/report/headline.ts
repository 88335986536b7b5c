/** The top of the page: what it is about, and the figures that people ask for first. */

import { count, money, percent, plural } from '../../terminal/text/format-numbers.js';
import { clockTime, isoTime } from '../../terminal/text/format-time.js';
import type { SwarmReport } from '../../views/report/swarm-report.js';
import { fateOf } from './agent-outcomes.js';
import { duration, shortCount } from './durations.js';
import { type Html, html, words } from './html-text.js';

export const headline = (report: SwarmReport): Html => {
  const { session, cwd, model, isRunning, writtenAt, from, to, continues } = report;
  const name = titleOf(report);
  const state = isRunning
    ? html`<p class="notice" role="status"><strong>Still running.</strong> This page shows the session as it was at ${clockTime(writtenAt)}; write it again to see more.</p>`
    : undefined;
  const before =
    continues === null
      ? undefined
      : html`<p class="notice">It continues the session ${words(continues, 80)}. What that one did and cost is not in here.</p>`;
  return html`<header>
<p class="kicker">Swarm report</p>
<h1>${name}</h1>
<p class="muted">${session} · ${words(cwd, 300)} · ${words(model, 80)}</p>
<p class="muted"><time datetime="${isoTime(from) ?? ''}">${clockTime(from)}</time> to <time datetime="${isoTime(to) ?? ''}">${clockTime(to)}</time> (${zoneOf(from)})</p>
${state}${before}
<dl class="cards">
${cardsOf(report).map(({ label, value, note }) => html`<div class="card"><dt>${label}</dt><dd>${value}</dd><dd class="muted">${note}</dd></div>\n`)}</dl>
</header>`;
};

/** The beginning of the first prompt is all that a session keeps of it. */
const LONGEST_TITLE = 80;

/** What was wanted, or the id where nobody said so. */
export const titleOf = ({ session, title }: SwarmReport): string => {
  const text = words(title, 200);
  return text === '' ? session : `${text}${title.length < LONGEST_TITLE ? '' : '…'}`;
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
  const failed = failedAttempts === 0 ? '' : `, ${count(failedAttempts)} failed`;
  const isWhole = to - from - activeMs < 1_000;
  return [
    { label: 'Agents', value: count(agents.length), note: fatesOf(report) },
    { label: 'Turns', value: count(turns), note: `${plural(requests, 'request')}${failed}` },
    {
      label: 'Time',
      value: duration(activeMs),
      note: isWhole ? 'from the first event to the last' : `${duration(to - from)} with pauses`,
    },
    {
      label: 'Cost',
      value: costUsd === null ? `≥ ${money(knownCostUsd)}` : money(costUsd),
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
    value: readPercent === null ? '–' : percent(readPercent),
    note:
      readPercent === null
        ? 'nothing was sent'
        : `${shortCount(readTokens)} of ${shortCount(promptTokens)} tokens sent`,
  };
  if (costUsd === null || uncachedCostUsd === null || savedPercent === null) return [share];
  const saved = uncachedCostUsd - costUsd;
  return [
    share,
    {
      label: saved < 0 ? 'The cache cost' : 'Saved by the cache',
      value: money(Math.abs(saved)),
      note: `${percent(Math.abs(savedPercent))} of ${money(uncachedCostUsd)}`,
    },
  ];
};

const questionCard = ({ permissions }: SwarmReport): Card => {
  const { questions, denials, waitedMs } = permissions;
  const denied = denials === 0 ? 'nothing denied' : `${plural(denials, 'call')} denied`;
  return {
    label: 'Questions',
    value: count(questions),
    note: questions === 0 ? denied : `${duration(waitedMs)} of waiting, ${denied}`,
  };
};

const fatesOf = ({ agents }: SwarmReport): string => {
  const fates = new Map<string, number>();
  for (const agent of agents) {
    const { word } = fateOf(agent);
    fates.set(word, (fates.get(word) ?? 0) + 1);
  }
  return [...fates].map(([word, many]) => `${count(many)} ${word}`).join(', ');
};

/** Of whoever wrote the page. */
const zoneOf = (ts: number): string => {
  const minutes = -new Date(ts).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
};
