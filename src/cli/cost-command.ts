/** `skein cost`: what a session cost, per model and in all, and what the cache saved. */
import { resolve } from 'node:path';
import { CostLedger, type CostLine, type CostReport } from '../sdk/cost-ledger.js';
import { openArchive, sessionNamed } from '../sdk/session-archive.js';
import { EXIT } from './exit-code.js';
import { columns, count, money, plural } from './figures.js';
import { plainText } from './harmless-text.js';
import type { Machine } from './machine.js';

export interface CostFlags {
  readonly json?: boolean;
  readonly cwd?: string;
}

export const showCost = async (
  wanted: string | undefined,
  flags: CostFlags,
  machine: Machine,
): Promise<number> => {
  const store = openArchive(machine);
  const { id, title } = await sessionNamed(store, wanted, resolve(machine.cwd, flags.cwd ?? ''));
  const ledger = new CostLedger();
  for await (const event of store.events(id)) ledger.take(event);
  const report = ledger.report();
  const isRunning = (await store.holder(id)) !== undefined;
  if (flags.json === true) {
    machine.out(`${JSON.stringify({ session: id, ...report }, null, 2)}\n`);
  } else {
    machine.out(`${id}  ${plainText(title, 80)}\n\n${costText(report, isRunning)}`);
  }
  return EXIT.done;
};

export const costText = (report: CostReport, isRunning: boolean): string => {
  const { models, total, pricesVersion } = report;
  const rows = models.map(({ model, ...line }) => rowOf(plainText(model, 40), line));
  const head = ['model', 'requests', 'input', 'output', 'cache read', 'cache write', 'cost'];
  const all = models.length === 1 ? [] : [rowOf('total', total)];
  const table = columns([head, ...rows, ...all], [1, 2, 3, 4, 5, 6]);
  const lines = [table, '', ...summaryOf(total), ...apart(report, isRunning)];
  return `${lines.join('\n')}\nList prices of ${pricesVersion}, in US dollars; tokens as the server counted them.\n`;
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
