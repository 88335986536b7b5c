/** What a session cost, in words, columns and bars: in full for `skein cost`, in short for `/cost`. */
import type { CacheCause } from '../../../protocol/model/cache-causes.js';
import { type ChartStyle, shareBar } from '../../../terminal/text/bar-chart.js';
import {
  columns,
  count,
  figureTable,
  money,
  percent,
  plural,
  wrapped,
} from '../../../terminal/text/format-numbers.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import type { CacheCauseLine, CacheReport } from '../../../views/cost/cache-report.js';
import type { CostLine } from '../../../views/cost/cost-sum.js';
import type { CostReport } from '../../../views/cost/session-cost.js';
import { agentCostLines } from './agent-cost-text.js';

export const costText = (report: CostReport, isRunning: boolean, style: ChartStyle): string => {
  const { models, total, cache, pricesVersion } = report;
  const sentences = [
    ...summaryOf(total),
    ...apart(report, isRunning),
    `List prices of ${pricesVersion}, in US dollars; tokens as the server counted them.`,
  ];
  const lines = [
    ...tableOf(models, total, style.width),
    '',
    ...agentCostLines(report.agents, style.width),
    ...cacheLines(cache, style),
    ...missLines(cache, style),
    ...sentences.flatMap((sentence) => wrapped(sentence, style.width)),
  ];
  return `${lines.join('\n')}\n`;
};

/** The same in a few lines, for a session that goes on. */
export const costInShort = (report: CostReport, turns: number, style: ChartStyle): string => {
  const { total, cache } = report;
  const figures = `${count(total.inputTokens)} tokens in, ${count(total.cacheWriteTokens)} written to the cache, ${count(total.cacheReadTokens)} read from it, ${count(total.outputTokens)} out`;
  const misses = cache.causes.map(
    ({ cause, expected, count: times, lostTokens }) =>
      `${WORDS[cause]}, ${expected ? 'expected' : 'by accident'}, ${often(times)}, ${count(lostTokens)} tokens`,
  );
  const lines = [
    ...wrapped(`${plural(turns, 'turn')}, cost ${money(total.costUsd)}`, style.width),
    ...wrapped(figures, style.width),
    // Colours have no width, so this one is not measured; it has 60 columns at most.
    ...(cache.readPercent === null ? [] : [shareLine(cache, style)]),
    ...misses.flatMap((miss) => wrapped(`Miss: ${miss}`, style.width)),
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
  count(line.requests),
  count(line.inputTokens),
  count(line.outputTokens),
  count(line.cacheReadTokens),
  count(line.cacheWriteTokens),
  money(line.costUsd),
];

const BAR = 24;

const shareLine = ({ readPercent }: CacheReport, style: ChartStyle): string =>
  `${shareBar((readPercent ?? 0) / 100, BAR, style)} ${percent(readPercent ?? 0)} of input read from the cache`;

const cacheLines = (cache: CacheReport, style: ChartStyle): readonly string[] => {
  const { readTokens, writtenTokens, uncachedTokens, promptTokens, readPercent } = cache;
  if (readPercent === null) return [];
  const row = (name: string, tokens: number) => [
    `  ${name}`,
    count(tokens),
    shareBar(tokens / promptTokens, BAR, style),
  ];
  const rows = [
    row('read', readTokens),
    row('written', writtenTokens),
    row('in full', uncachedTokens),
  ];
  return [
    ...wrapped(
      `Of ${count(promptTokens)} input tokens ${percent(readPercent)} were read from the cache:`,
      style.width,
    ),
    ...columns(rows, [1]).split('\n'),
    '',
  ];
};

const missLines = (cache: CacheReport, style: ChartStyle): readonly string[] => {
  const { missCount, accidentCount, lostTokens, extraCostUsd, causes, readPercent } = cache;
  if (readPercent === null) return [];
  if (missCount === 0) return ['No miss of the cache was recorded.', ''];
  const accidents =
    accidentCount === 0 ? 'none of them by accident' : `${count(accidentCount)} by accident`;
  const head = `Misses of the cache: ${count(missCount)}, ${accidents}. ${lost(lostTokens, extraCostUsd)}`;
  return [
    ...wrapped(head, style.width),
    ...causes.flatMap((line) => causeLines(line, style.width)),
    '',
  ];
};

const MOST_OWNERS = 5;

const causeLines = (line: CacheCauseLine, width: number): readonly string[] => {
  const { cause, expected, count: times, lostTokens, extraCostUsd, owners, diagnoses } = line;
  const kind = expected ? 'expected' : 'an accident';
  const shown = owners.slice(0, MOST_OWNERS).map(({ owner, count: each }) => {
    const again = each > 1 ? ` (${often(each)})` : '';
    return `${plainText(owner, 80) || 'unknown'}${again}`;
  });
  const more = owners.length > MOST_OWNERS ? [`${owners.length - MOST_OWNERS} more`] : [];
  const detail = plainText(line.detail, 300);
  return [
    ...wrapped(
      `${WORDS[cause]} (${cause}): ${often(times)}, ${kind}. ${lost(lostTokens, extraCostUsd)}`,
      width,
      '  ',
    ),
    ...wrapped(`Owner: ${[...shown, ...more].join(', ')}`, width, '      '),
    ...(detail === '' ? [] : wrapped(`${times > 1 ? 'Last: ' : ''}${detail}`, width, '      ')),
    ...diagnoses.flatMap((said) =>
      wrapped(`The server says: ${plainText(said, 300)}`, width, '      '),
    ),
  ];
};

const lost = (tokens: number, extra: number | null): string => {
  const cost = extra === null ? 'what that cost is unknown' : `about ${money(extra)} more`;
  return `${plural(tokens, 'token')} not read again, ${cost}.`;
};

const often = (times: number): string =>
  times === 1 ? 'once' : times === 2 ? 'twice' : `${count(times)} times`;

const WORDS: Readonly<Record<CacheCause, string>> = {
  system: 'the system prompt changed',
  tools: 'the tools changed',
  model: 'another model answered',
  betas: 'the beta headers changed',
  effort: 'the effort changed',
  thinking: 'how the model thinks changed',
  settings: 'another setting of the request changed',
  marks: 'the marks moved',
  messages: 'earlier messages changed',
  compaction: 'older messages were summarised',
  truncation: 'the oldest messages were dropped',
  clear: 'the conversation began anew',
  rewind: 'the conversation was taken back',
  section: 'a section that may change did',
  expired: 'the time to live had passed',
  server: 'nothing of ours changed',
};

const summaryOf = ({ costUsd, knownCostUsd, uncachedCostUsd, savedPercent }: CostLine) => {
  if (costUsd === null) {
    const part = knownCostUsd > 0 ? `; what has a price comes to ${money(knownCostUsd)}` : '';
    return [`The cost is unknown, because the price of a model is${part}.`];
  }
  const cost = `It cost ${money(costUsd)}`;
  if (savedPercent === null) return [`${cost}.`];
  const saved =
    savedPercent < 0
      ? `${-savedPercent} % more, because little that was cached was read again`
      : `${savedPercent} % saved`;
  return [`${cost}; without the cache ${money(uncachedCostUsd)}: ${saved}.`];
};

/** What a person would not expect to find among the turns. */
const apart = (
  { total, failedAttempts, consultations, openRequests, inherited }: CostReport,
  isRunning: boolean,
) => [
  ...(total.webSearches > 0
    ? [`Web searches of the provider, included above: ${count(total.webSearches)}.`]
    : []),
  ...(failedAttempts.count > 0
    ? [
        `Failed attempts, included above: ${failedAttempts.count}, ${money(failedAttempts.costUsd)}.`,
      ]
    : []),
  ...consultations.map(
    ({ purpose, count: times, costUsd }) =>
      `Consultations for ${plainText(purpose, 40)}, included above: ${times}, ${money(costUsd)}.`,
  ),
  ...(openRequests > 0
    ? [
        isRunning
          ? `${plural(openRequests, 'request')} under way, not counted yet.`
          : `${plural(openRequests, 'request')} cut off with the process; what the server charged is unknown.`,
      ]
    : []),
  ...(inherited === null
    ? []
    : [
        `Forked from ${plainText(inherited.session, 64)}, which paid ${money(inherited.costUsd)} for ${plural(inherited.requests, 'request')} of the history; not counted here.`,
      ]),
];
