/** Demo printer: prints what agents do in `skein demo`, the lead at the margin, others indented. */
import { asText } from '../../lib/text/as-text.js';
import type { OpenQuestion } from '../../sdk/control/open-questions.js';
import type { ChartStyle } from '../../terminal/charts/chart-style.js';
import { type Paint, paintFor } from '../../terminal/terminal.js';
import { wrapWords } from '../../terminal/text/fit-text.js';
import { formatMoney, plural } from '../../terminal/text/format-number.js';
import { sanitize } from '../../terminal/text/sanitize.js';
import type { DemoLine } from './demo-child.js';

const SIGNS = {
  says: '●',
  does: '▸',
  done: '✓',
  fails: '✗',
  joins: '+',
  asks: '?',
  writes: '✉',
};
const ASCII: typeof SIGNS = {
  says: '*',
  does: '>',
  done: '=',
  fails: 'x',
  joins: '+',
  asks: '?',
  writes: '@',
};

/** Width of the column with agent names. */
const NAME_WIDTH = 6;

type Block = Readonly<Record<string, unknown>>;

export class DemoPrinter {
  private readonly signs: typeof SIGNS;
  private readonly paint: Paint;
  private readonly width: number;
  private readonly print: (text: string) => void;
  private isSpeaking = false;
  /** Lines of other agents that wait until the text of the lead is complete. */
  private readonly delayed: string[] = [];
  /** Agent names by Task call id and by agent id. */
  private readonly names = new Map<unknown, string>();
  private readonly idle = new Set<unknown>();

  constructor({ width, unicode, coloured }: ChartStyle, print: (text: string) => void) {
    this.signs = unicode ? SIGNS : ASCII;
    this.paint = paintFor(coloured);
    this.width = width;
    this.print = print;
  }

  take(line: DemoLine): void {
    const { type, subtype, parent_tool_use_id: call } = line;
    if (type === 'stream_event' && call === null) this.printSpeech(line.event as Block);
    else if (type === 'assistant') this.printCalls(blocksIn(line), call);
    else if (type === 'user') this.printResults(blocksIn(line), call);
    else if (subtype === 'task_started') this.printStart(line);
    else if (subtype === 'task_notification') this.printReport(line);
  }

  /** Prints a question. */
  ask({ question, above }: OpenQuestion, isPersonThere: boolean): void {
    const chain = above.map(({ name, kind }) => name ?? kind).join(' → ');
    const hint = isPersonThere ? '[Y/n]' : '(no rule allows it)';
    const name = this.nameById(question.agent);
    const onBehalf = chain === '' ? '' : `, for ${chain}`;
    this.line(name, this.signs.asks, `May I? ${question.description}${onBehalf}`, hint);
  }

  answer({ question }: OpenQuestion, text: string): void {
    this.line(this.nameById(question.agent), this.signs.asks, text);
  }

  /** Prints a remark about the whole swarm. */
  remark(text: string, isBad: boolean): void {
    this.endSpeech();
    this.print('\n');
    this.line('', isBad ? this.signs.fails : this.signs.done, text);
  }

  private printStart({
    task_id,
    tool_use_id,
    subagent_type,
    task_type,
    name,
    description,
  }: Block): void {
    const called = asText(name) || asText(task_id);
    this.names.set(tool_use_id, called);
    this.names.set(task_id, called);
    const kind = task_type === 'teammate' ? 'teammate' : asText(subagent_type) || 'fork';
    this.line('  ', this.signs.joins, `${kind} ${called}: ${asText(description)}`);
  }

  private printCalls(blocks: readonly Block[], call: unknown): void {
    for (const { type, name, input } of blocks) {
      if (type !== 'tool_use' || name === 'Task') continue;
      const fields = Object(input) as Block;
      const isLetter = name === 'SendMessage';
      const sign = isLetter ? this.signs.writes : this.signs.does;
      const text = isLetter
        ? `to ${asText(fields.to)}: ${asText(fields.message)}`
        : `${asText(name)} ${asText(fields.file_path ?? fields.command ?? fields.task_id)}`;
      this.line(this.nameByCall(call), sign, text);
    }
  }

  private printResults(blocks: readonly Block[], call: unknown): void {
    for (const { content, is_error } of blocks) {
      const result = resultLine(content);
      if (is_error === true) this.line(this.nameByCall(call), this.signs.fails, result);
      else if (COUNTS.test(result)) this.line(this.nameByCall(call), this.signs.done, result);
    }
  }

  private printReport({
    task_id,
    status,
    summary,
    detail,
    num_turns,
    cost_usd,
    is_idle,
  }: Block): void {
    const isDone = status === 'completed';
    // An agent that was idle has reported already.
    if (this.idle.has(task_id) && is_idle !== true) return;
    if (is_idle === true) this.idle.add(task_id);
    const took = `(${plural(Number(num_turns), 'turn')}, ${formatMoney(cost_usd as number | null)})`;
    const text = isDone ? asText(summary) : `${asText(status)}: ${asText(detail)}`;
    const sign = isDone ? this.signs.done : this.signs.fails;
    this.line(this.nameById(task_id), sign, text, is_idle === true ? `idle ${took}` : took);
  }

  private nameByCall(call: unknown): string {
    return call === null ? '  ' : this.nameById(call);
  }

  private nameById(id: unknown): string {
    return `    ${(this.names.get(id) ?? 'lead').padEnd(NAME_WIDTH)}`;
  }

  private line(speaker: string, sign: string, words: string, remark = ''): void {
    const head = `${speaker}${sign} `;
    const [first = '', ...rest] = wrapWords(sanitize(words), this.width - head.length);
    const indent = ' '.repeat(head.length);
    const last = head.length + (rest.at(-1) ?? first).length;
    const gap = last + remark.length < this.width ? ' ' : `\n${indent}`;
    const end = remark === '' ? '' : `${gap}${this.paint.dim(remark)}`;
    const lines = [
      `${this.paint.dim(speaker)}${sign} ${first}`,
      ...rest.map((line) => `${indent}${line}`),
    ];
    const printed = `${lines.join('\n')}${end}\n`;
    if (this.isSpeaking) this.delayed.push(printed);
    else this.print(printed);
  }

  /** Prints the text of the lead as it streams. */
  private printSpeech({ type, content_block, delta }: Block): void {
    const block = content_block as Block | undefined;
    const piece = delta as Block | undefined;
    if (type === 'content_block_start' && block?.type === 'text') {
      this.isSpeaking = true;
      this.print(`\n${this.signs.says} `);
    } else if (type === 'content_block_stop') this.endSpeech();
    else if (piece?.type === 'text_delta') this.print(sanitize(asText(piece.text)));
  }

  private endSpeech(): void {
    if (!this.isSpeaking) return;
    this.isSpeaking = false;
    this.print(`\n${this.delayed.splice(0).join('')}`);
  }
}

const blocksIn = ({ message }: DemoLine): readonly Block[] => {
  const { content } = Object(message) as Block;
  return Array.isArray(content) ? (content as Block[]) : [];
};

const COUNTS = /\bpass \d+.*\bfail \d+/;

/** Returns the counts of a test run, or the first line of any other output. */
const resultLine = (content: unknown): string => {
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  const lines = text.trimEnd().split('\n');
  const counts = lines.filter((line) => /\b(pass|fail) \d/.test(line));
  const excerpt = counts.length > 0 ? counts.join(', ') : (lines[0] ?? '');
  return excerpt
    .replaceAll(/[#ℹ]\s*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 200);
};
