/** An assembled prompt for people: what each block is, and then its words, set apart from ours. */
import type {
  PromptBlock,
  PromptMark,
  PromptReport,
  PromptSection,
  PromptTool,
} from '../../../sdk/sessions/prompt-report.js';
import { type Paint, paintFor } from '../../../terminal/terminal.js';
import type { ChartStyle } from '../../../terminal/text/bar-chart.js';
import { columns, count, plural, wrapped } from '../../../terminal/text/format-numbers.js';
import { plainText, sanitize } from '../../../terminal/text/sanitize.js';
import { folded } from '../../../terminal/text/text-fit.js';

export interface PromptViewOptions {
  /** With what each tool says. */
  readonly isVerbose: boolean;
  /** Long lines of the prompt are folded; those that go on begin with a colon. */
  readonly isFolded: boolean;
}

export const promptView = (
  report: PromptReport,
  { isVerbose, isFolded }: PromptViewOptions,
  style: ChartStyle,
): string => {
  const page = new Page(style, isFolded);
  page.say(...summaryOf(report));
  page.head(`Tools: ${report.tools.length}, ${plural(report.tokens.tools, 'token')}`);
  addTools(page, report.tools, isVerbose);
  for (const block of report.system) addBlock(page, block, report.system.length);
  addOpening(page, report.opening);
  return page.text();
};

/** Lines of ours are wrapped; words of the prompt stand behind a bar, so that they cannot pose as ours. */
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

  say(...sentences: readonly string[]): void {
    for (const sentence of sentences) this.lines.push(...wrapped(sentence, this.width));
  }

  item(text: string): void {
    const [first = '', ...rest] = wrapped(text, this.width, '  ');
    this.lines.push(`- ${first.slice(2)}`, ...rest);
  }

  head(title: string): void {
    this.lines.push('');
    for (const line of wrapped(title, this.width)) this.lines.push(this.paint.strong(line));
  }

  rows(rows: readonly (readonly string[])[], right: readonly number[] = []): void {
    if (rows.length > 0) this.lines.push(...columns(rows, right).split('\n'));
  }

  quote(text: string): void {
    for (const line of sanitize(text).split('\n')) {
      const [first = '', ...rest] = this.fold(line);
      this.lines.push(`| ${first}`.trimEnd(), ...rest.map((more) => `: ${more}`.trimEnd()));
    }
  }

  /** A tab is as wide as a terminal likes, so it goes. */
  private fold(line: string): readonly string[] {
    return this.isFolded ? folded(line.replaceAll('\t', '    '), this.width - 2) : [line];
  }

  text(): string {
    return `${this.lines.join('\n')}\n`;
  }
}

const summaryOf = ({ cwd, model, agent, tokens, marks, ttl }: PromptReport): readonly string[] => {
  const whose = agent === null ? '' : `, as the agent ${plainText(agent, 64)}`;
  const places = marks.map((mark) => `${mark.after} (${count(mark.tokens)} tokens, ${kept(mark)})`);
  return [
    `What a new session in ${plainText(cwd, 300)} begins with, for ${plainText(model, 60)}${whose}.`,
    `About ${plural(tokens.all, 'token')} at four bytes each: tools ${count(tokens.tools)}, system ${count(tokens.system)}, opening ${count(tokens.opening)}. Tools, identity and static zone, ${count(tokens.shared)}, are the same for everybody.`,
    places.length === 0
      ? 'No block ends with a mark.'
      : `Marks: after ${places.join(', after ')}; two more in the messages of each request (${ttl}).`,
  ];
};

const addTools = (page: Page, tools: readonly PromptTool[], isVerbose: boolean): void => {
  const row = ({ name, tokens, digest, mark }: PromptTool) => [
    `  ${plainText(name, 64)}`,
    plural(tokens, 'token'),
    digest,
    ...(mark === null ? [] : [`mark ${kept(mark)}`]),
  ];
  if (!isVerbose) {
    page.rows(tools.map(row), [1]);
    if (tools.length > 0) page.say('  --verbose shows what each of them says.');
    return;
  }
  for (const tool of tools) {
    page.rows([row(tool)]);
    page.quote(tool.text);
  }
};

const addBlock = (page: Page, block: PromptBlock, of: number): void => {
  const { zones, tokens, mark, digest, sections, text } = block;
  const zone = zones.length === 0 ? '' : `, ${zones.join(' and ')}`;
  const marked = mark === null ? 'no mark' : `mark ${kept(mark)}`;
  page.head(
    `System block ${block.block} of ${of}${zone}, ${plural(tokens, 'token')}, ${marked}, ${digest}`,
  );
  if (sections.length === 0) page.quote(text);
  for (const [index, section] of sections.entries()) {
    if (index > 0) page.say('');
    page.item(sectionLine(section));
    page.quote(section.text);
  }
};

const sectionLine = ({ name, zone, source, path, mayChange, tokens, digest }: PromptSection) => {
  const file = path === null ? '' : ` (${plainText(path, 300)})`;
  const why = mayChange === null ? '' : `; may change: ${plainText(mayChange, 200)}`;
  return `${plainText(name, 80)}: ${zone} zone, from ${plainText(source, 80)}${file}, ${plural(tokens, 'token')}, ${digest}${why}`;
};

const FATES = { told: 'told', 'left out': 'left out, no room', waits: 'waits' } as const;

const addOpening = (page: Page, { tokens, digest, text, files }: PromptReport['opening']): void => {
  page.head(`Opening of the first message, ${plural(tokens, 'token')}, ${digest}`);
  for (const { layer, path, parent, fate, paths, ...file } of files) {
    const from = parent === null ? '' : `, included by ${plainText(parent, 300)}`;
    const about = paths === undefined ? '' : ` for ${plainText(paths.join(', '), 200)}`;
    page.item(
      `${plainText(path, 300)}: ${layer}${from}, ${FATES[fate]}${about}, ${plural(file.tokens, 'token')}, ${file.digest}`,
    );
  }
  if (text !== '') page.quote(text);
};

/** How long the server keeps it, and for whom. */
const kept = ({ ttl, scope }: PromptMark): string =>
  scope === null ? ttl : `${ttl} ${plainText(scope, 20)}`;
