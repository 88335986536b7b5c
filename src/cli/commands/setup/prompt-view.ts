/** Prompt view: an assembled prompt as text, with facts about each block and its quoted content. */
import type {
  PromptMark,
  PromptReport,
  PromptReportBlock,
  PromptSection,
  PromptTool,
} from '../../../sdk/sessions/prompt-report.js';
import type { ChartStyle } from '../../../terminal/charts/chart-style.js';
import { alignColumns } from '../../../terminal/charts/figure-table.js';
import { type Paint, paintFor } from '../../../terminal/terminal.js';
import { foldLine, wrapWords } from '../../../terminal/text/fit-text.js';
import { formatNumber, plural } from '../../../terminal/text/format-number.js';
import { plainText, sanitize } from '../../../terminal/text/sanitize.js';

interface PromptViewOptions {
  /** True to quote the text of each tool. */
  readonly isVerbose: boolean;
  /** True to fold long lines of the prompt. Continuation lines start with a colon. */
  readonly isFolded: boolean;
}

export const promptView = (
  report: PromptReport,
  { isVerbose, isFolded }: PromptViewOptions,
  style: ChartStyle,
): string => {
  const page = new Page(style, isFolded);
  page.addText(...summaryOf(report));
  page.addHead(`Tools: ${report.tools.length}, ${plural(report.tokens.tools, 'token')}`);
  addTools(page, report.tools, isVerbose);
  for (const block of report.system) addBlock(page, block, report.system.length);
  addOpening(page, report.opening);
  return page.text();
};

/** Collects lines. Text of the prompt is quoted behind a bar, so that it cannot imitate the view itself. */
class Page {
  private readonly lines: string[] = [];
  private readonly width: number;
  private readonly paint: Paint;
  private readonly isFolded: boolean;

  constructor({ width, coloured }: ChartStyle, isFolded: boolean) {
    this.width = width;
    this.paint = paintFor(coloured);
    this.isFolded = isFolded;
  }

  addText(...sentences: readonly string[]): void {
    for (const sentence of sentences) this.lines.push(...wrapWords(sentence, this.width));
  }

  addItem(text: string): void {
    const [first = '', ...rest] = wrapWords(text, this.width, '  ');
    this.lines.push(`- ${first.slice(2)}`, ...rest);
  }

  addHead(title: string): void {
    this.lines.push('');
    for (const line of wrapWords(title, this.width)) this.lines.push(this.paint.strong(line));
  }

  addRows(rows: readonly (readonly string[])[], right: readonly number[] = []): void {
    if (rows.length > 0) this.lines.push(...alignColumns(rows, right).split('\n'));
  }

  addQuote(text: string): void {
    for (const line of sanitize(text).split('\n')) {
      const [first = '', ...rest] = this.fold(line);
      this.lines.push(`| ${first}`.trimEnd(), ...rest.map((more) => `: ${more}`.trimEnd()));
    }
  }

  /** Replaces tabs by spaces, because their width depends on the terminal. */
  private fold(line: string): readonly string[] {
    return this.isFolded ? foldLine(line.replaceAll('\t', '    '), this.width - 2) : [line];
  }

  text(): string {
    return `${this.lines.join('\n')}\n`;
  }
}

const summaryOf = ({ cwd, model, agent, tokens, marks, ttl }: PromptReport): readonly string[] => {
  const agentNote = agent === null ? '' : `, as the agent ${plainText(agent, 64)}`;
  const breakpoints = marks.map(
    (mark) => `${mark.after} (${formatNumber(mark.tokens)} tokens, ${lifetimeText(mark)})`,
  );
  return [
    `Prompt of a new session in ${plainText(cwd, 300)}, for ${plainText(model, 60)}${agentNote}.`,
    `About ${plural(tokens.all, 'token')} at four bytes each: tools ${formatNumber(tokens.tools)}, system ${formatNumber(tokens.system)}, opening ${formatNumber(tokens.opening)}. Tools, identity and static zone, ${formatNumber(tokens.shared)}, are identical for all users.`,
    breakpoints.length === 0
      ? 'No block ends with a cache breakpoint.'
      : `Cache breakpoints: after ${breakpoints.join(', after ')}; two more in the messages of each request (${ttl}).`,
  ];
};

const addTools = (page: Page, tools: readonly PromptTool[], isVerbose: boolean): void => {
  const row = ({ name, tokens, digest, mark }: PromptTool) => [
    `  ${plainText(name, 64)}`,
    plural(tokens, 'token'),
    digest,
    ...(mark === null ? [] : [`breakpoint ${lifetimeText(mark)}`]),
  ];
  if (!isVerbose) {
    page.addRows(tools.map(row), [1]);
    if (tools.length > 0) page.addText('  --verbose shows the text of each tool.');
    return;
  }
  for (const tool of tools) {
    page.addRows([row(tool)]);
    page.addQuote(tool.text);
  }
};

const addBlock = (page: Page, block: PromptReportBlock, of: number): void => {
  const { zones, tokens, mark, digest, sections, text } = block;
  const zone = zones.length === 0 ? '' : `, ${zones.join(' and ')}`;
  page.addHead(
    `System block ${block.block} of ${of}${zone}, ${plural(tokens, 'token')}, ${markText(mark)}, ${digest}`,
  );
  if (sections.length === 0) page.addQuote(text);
  for (const [index, section] of sections.entries()) {
    if (index > 0) page.addText('');
    page.addItem(sectionLine(section));
    page.addQuote(section.text);
  }
};

const sectionLine = ({ name, zone, source, path, mayChange, tokens, digest }: PromptSection) => {
  const file = path === null ? '' : ` (${plainText(path, 300)})`;
  const why = mayChange === null ? '' : `; may change: ${plainText(mayChange, 200)}`;
  return `${plainText(name, 80)}: ${zone} zone, from ${plainText(source, 80)}${file}, ${plural(tokens, 'token')}, ${digest}${why}`;
};

const FATE_TEXT = { told: 'included', 'left out': 'left out, no room', waits: 'waits' } as const;

const addOpening = (page: Page, opening: PromptReport['opening']): void => {
  const { mark, tokens, digest, text, files } = opening;
  page.addHead(
    `Opening of the first message, ${plural(tokens, 'token')}, ${markText(mark)}, ${digest}`,
  );
  for (const { layer, path, parent, fate, paths, ...file } of files) {
    const from = parent === null ? '' : `, included by ${plainText(parent, 300)}`;
    const scope = paths === undefined ? '' : ` for ${plainText(paths.join(', '), 200)}`;
    page.addItem(
      `${plainText(path, 300)}: ${layer}${from}, ${FATE_TEXT[fate]}${scope}, ${plural(file.tokens, 'token')}, ${file.digest}`,
    );
  }
  if (text !== '') page.addQuote(text);
};

const markText = (mark: PromptMark | null): string =>
  mark === null ? 'no breakpoint' : `breakpoint ${lifetimeText(mark)}`;

/** Returns the lifetime of a cache breakpoint and its scope. */
const lifetimeText = ({ ttl, scope }: PromptMark): string =>
  scope === null ? ttl : `${ttl} ${plainText(scope, 20)}`;
