/** Cost text of a session: in full for `skein cost`, in short for `/cost`. */
import type { CacheCause } from '../../../protocol/model/cache-causes.js';
import type { ChartStyle } from '../../../terminal/charts/chart-style.js';
import { alignColumns, figureTable } from '../../../terminal/charts/figure-table.js';
import { shareBar } from '../../../terminal/charts/stacked-bar.js';
import { wrapWords } from '../../../terminal/text/fit-text.js';
import {
  formatMoney,
  formatNumber,
  formatPercent,
  plural,
} from '../../../terminal/text/format-number.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import type { CacheCauseLine, CacheReport } from '../../../views/cost/cache-report.js';
import type { CostLine } from '../../../views/cost/cost-sum.js';
import type { CostReport } from '../../../views/cost/session-cost.js';
import { agentCostLines } from './agent-cost-lines.js';

export const costText = (report: CostReport, isRunning: boolean, style: ChartStyle): string => {
  const { models, total, cache, pricesVersion } = report;
  const sentences = [
    ...summaryOf(total),
    ...remarksOf(report, isRunning),
    `List prices of ${pricesVersion}, in US dollars; tokens as the server counted them.`,
  ];
  const lines = [
    ...tableOf(models, total, style.width),
    '',
    ...agentCostLines(report.agents, style.width),
    ...cacheLines(cache, style),
    ...missLines(cache, style),
    ...sentences.flatMap((sentence) => wrapWords(sentence, style.width)),
  ];
  return `${lines.join('\n')}\n`;
};

/** Returns the cost in a few lines, for an open session. */
export const shortCostText = (report: CostReport, turns: number, style: ChartStyle): string => {
  const { total, cache } = report;
  const figures = `${formatNumber(total.inputTokens)} tokens in, ${formatNumber(total.cacheWriteTokens)} written to the cache, ${formatNumber(total.cacheReadTokens)} read from it, ${formatNumber(total.outputTokens)} out`;
  const misses = cache.causes.map(
    ({ cause, expected, count: times, lostTokens }) =>
      `${CAUSE_TEXT[cause]}, ${expected ? 'expected' : 'unexpected'}, ${timesText(times)}, ${formatNumber(lostTokens)} tokens`,
  );
  const lines = [
    ...wrapWords(`${plural(turns, 'turn')}, cost ${formatMoney(total.costUsd)}`, style.width),
    ...wrapWords(figures, style.width),
    // This line contains colour codes, so it cannot be wrapped. It has at most 60 columns.
    ...(cache.readPercent === null ? [] : [shareLine(cache, style)]),
    ...misses.flatMap((miss) => wrapWords(`Miss: ${miss}`, style.width)),
  ];
  return `${lines.join('\n')}\n`;
};

const HEAD = ['model', 'requests', 'input', 'output', 'cache read', 'cache write', 'cost'] as const;

const tableOf = (
  models: CostReport['models'],
  total: CostLine,
  width: number,
): readonly string[] => {
  const rows = models.map(({ model, ...line }) => rowOf(plainText(model, 40), line));
  const all = models.length === 1 ? [] : [rowOf('total', total)];
  return figureTable(HEAD, [...rows, ...all], width);
};

const rowOf = (name: string, line: CostLine): readonly string[] => [
  name,
  formatNumber(line.requests),
  formatNumber(line.inputTokens),
  formatNumber(line.outputTokens),
  formatNumber(line.cacheReadTokens),
  formatNumber(line.cacheWriteTokens),
  formatMoney(line.costUsd),
];

const BAR = 24;

const shareLine = ({ readPercent }: CacheReport, style: ChartStyle): string =>
  `${shareBar((readPercent ?? 0) / 100, BAR, style)} ${formatPercent(readPercent ?? 0)} of input read from the cache`;

const cacheLines = (cache: CacheReport, style: ChartStyle): readonly string[] => {
  const { readTokens, writtenTokens, uncachedTokens, promptTokens, readPercent } = cache;
  if (readPercent === null) return [];
  const row = (name: string, tokens: number) => [
    `  ${name}`,
    formatNumber(tokens),
    shareBar(tokens / promptTokens, BAR, style),
  ];
  const rows = [
    row('read', readTokens),
    row('written', writtenTokens),
    row('in full', uncachedTokens),
  ];
  return [
    ...wrapWords(
      `Of ${formatNumber(promptTokens)} input tokens ${formatPercent(readPercent)} were read from the cache:`,
      style.width,
    ),
    ...alignColumns(rows, [1]).split('\n'),
    '',
  ];
};

const missLines = (cache: CacheReport, style: ChartStyle): readonly string[] => {
  const { missCount, accidentCount, lostTokens, extraCostUsd, causes, readPercent } = cache;
  if (readPercent === null) return [];
  if (missCount === 0) return ['No cache miss was recorded.', ''];
  const accidents =
    accidentCount === 0 ? 'none unexpected' : `${formatNumber(accidentCount)} unexpected`;
  const head = `Cache misses: ${formatNumber(missCount)}, ${accidents}. ${lost(lostTokens, extraCostUsd)}`;
  return [
    ...wrapWords(head, style.width),
    ...causes.flatMap((line) => causeLines(line, style.width)),
    '',
  ];
};

const MAX_OWNERS = 5;

const causeLines = (line: CacheCauseLine, width: number): readonly string[] => {
  const { cause, expected, count: times, lostTokens, extraCostUsd, owners, diagnoses } = line;
  const kind = expected ? 'expected' : 'unexpected';
  const shown = owners.slice(0, MAX_OWNERS).map(({ owner, count: ownerCount }) => {
    const repeats = ownerCount > 1 ? ` (${timesText(ownerCount)})` : '';
    return `${plainText(owner, 80) || 'unknown'}${repeats}`;
  });
  const more = owners.length > MAX_OWNERS ? [`${owners.length - MAX_OWNERS} more`] : [];
  const detail = plainText(line.detail, 300);
  return [
    ...wrapWords(
      `${CAUSE_TEXT[cause]} (${cause}): ${timesText(times)}, ${kind}. ${lost(lostTokens, extraCostUsd)}`,
      width,
      '  ',
    ),
    ...wrapWords(`Owner: ${[...shown, ...more].join(', ')}`, width, '      '),
    ...(detail === '' ? [] : wrapWords(`${times > 1 ? 'Last: ' : ''}${detail}`, width, '      ')),
    ...diagnoses.flatMap((diagnosis) =>
      wrapWords(`The server says: ${plainText(diagnosis, 300)}`, width, '      '),
    ),
  ];
};

const lost = (tokens: number, extra: number | null): string => {
  const cost = extra === null ? 'at unknown cost' : `about ${formatMoney(extra)} more`;
  return `${plural(tokens, 'token')} not read again, ${cost}.`;
};

const timesText = (times: number): string =>
  times === 1 ? 'once' : times === 2 ? 'twice' : `${formatNumber(times)} times`;

const CAUSE_TEXT: Readonly<Record<CacheCause, string>> = {
  system: 'the system prompt changed',
  tools: 'the tools changed',
  model: 'another model answered',
  betas: 'the beta headers changed',
  effort: 'the effort changed',
  thinking: 'the thinking setting changed',
  settings: 'another setting of the request changed',
  marks: 'the cache breakpoints moved',
  messages: 'earlier messages changed',
  compaction: 'older messages were summarised',
  truncation: 'the oldest messages were dropped',
  clear: 'the conversation was cleared',
  rewind: 'the conversation was rewound',
  section: 'a dynamic section changed',
  expired: 'the time to live had passed',
  server: 'the request had not changed',
};

const summaryOf = ({ costUsd, knownCostUsd, uncachedCostUsd, savedPercent }: CostLine) => {
  if (costUsd === null) {
    const part =
      knownCostUsd > 0 ? `; models with a known price cost ${formatMoney(knownCostUsd)}` : '';
    return [`The cost is unknown, because the price of a model is unknown${part}.`];
  }
  const cost = `The session cost ${formatMoney(costUsd)}`;
  if (savedPercent === null) return [`${cost}.`];
  const saved =
    savedPercent < 0
      ? `${-savedPercent} % more, because little of the cache was read`
      : `${savedPercent} % saved`;
  return [`${cost}; without the cache ${formatMoney(uncachedCostUsd)}: ${saved}.`];
};

/** Returns sentences about costs outside of turns: searches, failed attempts, side requests, forks. */
const remarksOf = (
  { total, failedAttempts, consultations, openRequests, inherited }: CostReport,
  isRunning: boolean,
) => [
  ...(total.webSearches > 0
    ? [`Web searches of the provider, included above: ${formatNumber(total.webSearches)}.`]
    : []),
  ...(failedAttempts.count > 0
    ? [
        `Failed attempts, included above: ${failedAttempts.count}, ${formatMoney(failedAttempts.costUsd)}.`,
      ]
    : []),
  ...consultations.map(
    ({ purpose, count: times, costUsd }) =>
      `Side requests for ${plainText(purpose, 40)}, included above: ${times}, ${formatMoney(costUsd)}.`,
  ),
  ...(openRequests > 0
    ? [
        isRunning
          ? `${plural(openRequests, 'request')} in flight, not counted yet.`
          : `${plural(openRequests, 'request')} cut off with the process; what the server charged is unknown.`,
      ]
    : []),
  ...(inherited === null
    ? []
    : [
        `Forked from ${plainText(inherited.session, 64)}, which paid ${formatMoney(inherited.costUsd)} for ${plural(inherited.requests, 'request')} of the history; not counted here.`,
      ]),
];
