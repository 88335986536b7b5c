/** Context text: a chart of a context window, with a bar for the whole and a row per kind. */
import type {
  ContextWindowReport,
  WindowExcess,
  WindowPart,
} from '../../../sdk/sessions/context-window-report.js';
import type { ChartStyle } from '../../../terminal/charts/chart-style.js';
import {
  type BarFill,
  EMPTY_FILL,
  fillCells,
  stackedBar,
} from '../../../terminal/charts/stacked-bar.js';
import { wrapWords } from '../../../terminal/text/fit-text.js';
import { formatNumber, plural } from '../../../terminal/text/format-number.js';
import { plainText } from '../../../terminal/text/sanitize.js';

const KINDS: Readonly<
  Record<WindowPart['kind'], { readonly name: string; readonly ink: BarFill }>
> = {
  system: { name: 'system', ink: { block: '█', ascii: '#', colour: 34 } },
  tools: { name: 'tools', ink: { block: '▓', ascii: '%', colour: 36 } },
  memory: { name: 'memory', ink: { block: '▒', ascii: '+', colour: 35 } },
  messages: { name: 'messages', ink: { block: '▚', ascii: '=', colour: 32 } },
  results: { name: 'tool results', ink: { block: '░', ascii: ':', colour: 33 } },
  free: { name: 'free', ink: EMPTY_FILL },
};

export const contextText = (report: ContextWindowReport, style: ChartStyle): string => {
  const { model, window } = report;
  const lines = [
    ...wrapWords(
      `${plainText(model, 60)}: ${share(report.usedPercent, report.usedTokens)} of ${formatNumber(window)} tokens used`,
      style.width,
    ),
    '',
    ...bar(report, style),
    '',
    ...rows(report, style),
    '',
    ...sentences(report).flatMap((sentence) => wrapWords(sentence, style.width)),
  ];
  return `${lines.join('\n')}\n`;
};

/** Draws the whole window, and below it the thresholds of warning and compaction. */
const bar = (report: ContextWindowReport, style: ChartStyle): readonly string[] => {
  const { parts, window, usedTokens, warnAbove, compactAbove } = report;
  const cells = style.width - 2;
  const drawn = parts.map(({ kind, tokens }) => ({ amount: tokens, ink: KINDS[kind].ink }));
  const whole = Math.max(window, usedTokens);
  const at = (tokens: number) => Math.min(cells - 1, Math.floor((tokens / whole) * cells));
  const compact = at(compactAbove);
  const warn = Math.min(at(warnAbove), compact - 1);
  const ruler = `${' '.repeat(warn)}w`.padEnd(compact).concat('c');
  return [` ${stackedBar(drawn, cells, style)}`, ` ${ruler}`];
};

const rows = (report: ContextWindowReport, style: ChartStyle): readonly string[] => {
  const { parts } = report;
  const numberWidth = Math.max(6, ...parts.map(({ tokens }) => formatNumber(tokens).length));
  const maxTokens = Math.max(1, ...parts.map(({ kind, tokens }) => (kind === 'free' ? 0 : tokens)));
  const room = style.width - (NAME + numberWidth + 17);
  const label = room < 12 ? '' : 'side by side';
  const head = `   ${''.padEnd(NAME)}  ${'tokens'.padStart(numberWidth)}  ${'window'.padStart(7)}  ${label}`;
  const all = parts.map(({ kind, tokens, percent }) => {
    const { name, ink } = KINDS[kind];
    const figures = `${formatNumber(tokens).padStart(numberWidth)}  ${share(percent, tokens).padStart(7)}`;
    const cells = kind === 'free' || tokens === 0 ? 0 : Math.ceil((tokens / maxTokens) * room);
    return ` ${fillCells(ink, 1, style)} ${name.padEnd(NAME)}  ${figures}  ${fillCells(ink, cells, style)}`.trimEnd();
  });
  return [head.trimEnd(), ...all];
};

/** Width of the longest name of a kind. */
const NAME = 12;

const share = (percent: number, tokens: number): string =>
  percent === 0 && tokens > 0 ? '<0.1 %' : `${percent.toFixed(1)} %`;

const sentences = (report: ContextWindowReport): readonly string[] => [
  ...report.notices.map((notice) => plainText(notice, 300)),
  measure(report),
  `Above w, ${formatNumber(report.warnAbove)} tokens, a notice warns you; above c, ${formatNumber(report.compactAbove)}, older messages are summarised first.`,
  ...report.exceeded.map(hint),
];

/** States how many tokens the server counted and how many are estimated. */
const measure = ({ session, usedTokens, countedTokens, turns }: ContextWindowReport): string => {
  if (session === null) {
    return `A new session here would start with about ${plural(usedTokens, 'token')}, estimated at four bytes each.`;
  }
  if (countedTokens === 0) {
    const reason =
      turns === 0 ? 'the session has no answer yet' : 'no answer has a count of them yet';
    return `About ${plural(usedTokens, 'token')}, estimated at four bytes each: ${reason}.`;
  }
  const since = usedTokens - countedTokens;
  const counted =
    since === 0
      ? `${plural(usedTokens, 'token')}, counted by the server with the last answer`
      : `${plural(usedTokens, 'token')}: ${formatNumber(countedTokens)} counted by the server with the last answer, about ${formatNumber(since)} estimated for later messages`;
  return `${counted}. The kinds are estimated at four bytes per token and scaled to that sum.`;
};

const hint = ({ kind, share: tokens }: WindowExcess): string => {
  const figure = formatNumber(tokens);
  switch (kind) {
    case 'system':
      return `The system prompt has more than a fifth of the window (${figure} tokens).`;
    case 'tools':
      return `The tools have more than 15 % of the window (${figure} tokens): fewer of them leave more room.`;
    case 'output':
      return `Less than 15 % of the window (${figure} tokens) is free: /compact makes room.`;
  }
};
