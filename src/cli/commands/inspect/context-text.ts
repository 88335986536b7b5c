/** What fills a window as a chart: one bar for the whole of it, and a row for each kind. */
import type {
  WindowExcess,
  WindowPart,
  WindowReport,
} from '../../../sdk/sessions/context-window-report.js';
import {
  type ChartStyle,
  EMPTY,
  type Ink,
  stackedBar,
  stroke,
} from '../../../terminal/text/bar-chart.js';
import { count, plural, wrapped } from '../../../terminal/text/format-numbers.js';
import { plainText } from '../../../terminal/text/sanitize.js';

const KINDS: Readonly<Record<WindowPart['kind'], { readonly name: string; readonly ink: Ink }>> = {
  system: { name: 'system', ink: { block: '█', ascii: '#', colour: 34 } },
  tools: { name: 'tools', ink: { block: '▓', ascii: '%', colour: 36 } },
  memory: { name: 'memory', ink: { block: '▒', ascii: '+', colour: 35 } },
  messages: { name: 'messages', ink: { block: '▚', ascii: '=', colour: 32 } },
  results: { name: 'tool results', ink: { block: '░', ascii: ':', colour: 33 } },
  free: { name: 'free', ink: EMPTY },
};

export const contextText = (report: WindowReport, style: ChartStyle): string => {
  const { model, window } = report;
  const lines = [
    ...wrapped(
      `${plainText(model, 60)}: ${share(report.usedPercent, report.usedTokens)} of ${count(window)} tokens used`,
      style.width,
    ),
    '',
    ...bar(report, style),
    '',
    ...rows(report, style),
    '',
    ...sentences(report).flatMap((sentence) => wrapped(sentence, style.width)),
  ];
  return `${lines.join('\n')}\n`;
};

/** The whole window, with a line below that says where it counts as full. */
const bar = (report: WindowReport, style: ChartStyle): readonly string[] => {
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

const rows = (report: WindowReport, style: ChartStyle): readonly string[] => {
  const { parts } = report;
  const longest = Math.max(6, ...parts.map(({ tokens }) => count(tokens).length));
  const largest = Math.max(1, ...parts.map(({ kind, tokens }) => (kind === 'free' ? 0 : tokens)));
  const room = style.width - (NAME + longest + 17);
  const label = room < 12 ? '' : 'side by side';
  const head = `   ${''.padEnd(NAME)}  ${'tokens'.padStart(longest)}  ${'window'.padStart(7)}  ${label}`;
  const all = parts.map(({ kind, tokens, percent }) => {
    const { name, ink } = KINDS[kind];
    const figures = `${count(tokens).padStart(longest)}  ${share(percent, tokens).padStart(7)}`;
    const cells = kind === 'free' || tokens === 0 ? 0 : Math.ceil((tokens / largest) * room);
    return ` ${stroke(ink, 1, style)} ${name.padEnd(NAME)}  ${figures}  ${stroke(ink, cells, style)}`.trimEnd();
  });
  return [head.trimEnd(), ...all];
};

/** The longest name of a kind. */
const NAME = 12;

const share = (percent: number, tokens: number): string =>
  percent === 0 && tokens > 0 ? '<0.1 %' : `${percent.toFixed(1)} %`;

const sentences = (report: WindowReport): readonly string[] => [
  ...report.notices.map((notice) => plainText(notice, 300)),
  measure(report),
  `Above w, ${count(report.warnAbove)} tokens, you are told that it fills up; above c, ${count(report.compactAbove)}, older messages are summarised first.`,
  ...report.exceeded.map(hint),
];

/** What was counted, and what is a guess. */
const measure = ({ session, usedTokens, countedTokens, turns }: WindowReport): string => {
  if (session === null) {
    return `A new session here would begin with about ${plural(usedTokens, 'token')}, estimated at four bytes each.`;
  }
  if (countedTokens === 0) {
    const why = turns === 0 ? 'nothing has been answered yet' : 'no answer has counted it so far';
    return `About ${plural(usedTokens, 'token')}, estimated at four bytes each: ${why}.`;
  }
  const since = usedTokens - countedTokens;
  const counted =
    since === 0
      ? `${plural(usedTokens, 'token')}, counted by the server with the last answer`
      : `${plural(usedTokens, 'token')}: ${count(countedTokens)} counted by the server with the last answer, about ${count(since)} estimated for what came after`;
  return `${counted}. The kinds are estimated at four bytes a token, and fitted to that.`;
};

const hint = ({ kind, share: tokens }: WindowExcess): string => {
  const figure = count(tokens);
  switch (kind) {
    case 'system':
      return `The system prompt has more than a fifth of the window (${figure} tokens).`;
    case 'tools':
      return `The tools have more than 15 % of the window (${figure} tokens): fewer of them leave more room.`;
    case 'output':
      return `Less than 15 % of the window (${figure} tokens) is free: /compact makes room.`;
  }
};
