/** Tells a person who does what in `skein demo`, while it happens: the lead at the margin, its agents below it. */
import type { OpenQuestion } from '../../sdk/control/open-questions.js';
import { type Paint, paintFor } from '../../terminal/terminal.js';
import type { ChartStyle } from '../../terminal/text/bar-chart.js';
import { money, plural, wrapped } from '../../terminal/text/format-numbers.js';
import { sanitize } from '../../terminal/text/sanitize.js';
import { type DemoLine, wordOf } from './demo-child.js';

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

/** Room for the name of an agent. */
const NAME = 6;

type Block = Readonly<Record<string, unknown>>;

export class DemoNarration {
  private readonly signs: typeof SIGNS;
  private readonly paint: Paint;
  private readonly width: number;
  private readonly print: (text: string) => void;
  private isTalking = false;
  /** What others did while the lead was talking. */
  private readonly asides: string[] = [];
  /** Names of agents, by the call that asked for them and by their ids. */
  private readonly names = new Map<unknown, string>();
  private readonly rested = new Set<unknown>();

  constructor({ width, unicode, coloured }: ChartStyle, print: (text: string) => void) {
    this.signs = unicode ? SIGNS : ASCII;
    this.paint = paintFor(coloured);
    this.width = width;
    this.print = print;
  }

  tell(line: DemoLine): void {
    const { type, subtype, parent_tool_use_id: call } = line;
    if (type === 'stream_event' && call === null) this.talk(line.event as Block);
    else if (type === 'assistant') this.act(blocksIn(line), call);
    else if (type === 'user') this.look(blocksIn(line), call);
    else if (subtype === 'task_started') this.join(line);
    else if (subtype === 'task_notification') this.report(line);
  }

  /** Before the answer of whoever is asked. */
  ask({ question, above }: OpenQuestion, isPersonThere: boolean): void {
    const chain = above.map(({ name, kind }) => name ?? kind).join(' → ');
    const hint = isPersonThere ? '[Y/n]' : '(no rule allows it)';
    const who = this.called(question.agent);
    const whom = chain === '' ? '' : `, for ${chain}`;
    this.line(who, this.signs.asks, `May I? ${question.description}${whom}`, hint);
  }

  answer({ question }: OpenQuestion, words: string): void {
    this.line(this.called(question.agent), this.signs.asks, words);
  }

  /** Something happens to the swarm as a whole. */
  remark(words: string, isBad: boolean): void {
    this.endTalk();
    this.print('\n');
    this.line('', isBad ? this.signs.fails : this.signs.done, words);
  }

  private join({ task_id, tool_use_id, subagent_type, task_type, name, description }: Block): void {
    const called = wordOf(name) || wordOf(task_id);
    this.names.set(tool_use_id, called);
    this.names.set(task_id, called);
    const kind = task_type === 'teammate' ? 'teammate' : wordOf(subagent_type) || 'fork';
    this.line('  ', this.signs.joins, `${kind} ${called}: ${wordOf(description)}`);
  }

  private act(blocks: readonly Block[], call: unknown): void {
    for (const { type, name, input } of blocks) {
      if (type !== 'tool_use' || name === 'Task') continue;
      const given = Object(input) as Block;
      const isLetter = name === 'SendMessage';
      const sign = isLetter ? this.signs.writes : this.signs.does;
      const words = isLetter
        ? `to ${wordOf(given.to)}: ${wordOf(given.message)}`
        : `${wordOf(name)} ${wordOf(given.file_path ?? given.command ?? given.task_id)}`;
      this.line(this.whose(call), sign, words);
    }
  }

  private look(blocks: readonly Block[], call: unknown): void {
    for (const { content, is_error } of blocks) {
      const said = tellingLine(content);
      if (is_error === true) this.line(this.whose(call), this.signs.fails, said);
      else if (COUNTS.test(said)) this.line(this.whose(call), this.signs.done, said);
    }
  }

  private report({ task_id, status, summary, detail, num_turns, cost_usd, is_idle }: Block): void {
    const isDone = status === 'completed';
    // The end of one that rested tells nothing new.
    if (this.rested.has(task_id) && is_idle !== true) return;
    if (is_idle === true) this.rested.add(task_id);
    const took = `(${plural(Number(num_turns), 'turn')}, ${money(cost_usd as number | null)})`;
    const words = isDone ? wordOf(summary) : `${wordOf(status)}: ${wordOf(detail)}`;
    const sign = isDone ? this.signs.done : this.signs.fails;
    this.line(this.called(task_id), sign, words, is_idle === true ? `rests ${took}` : took);
  }

  private whose(call: unknown): string {
    return call === null ? '  ' : this.called(call);
  }

  private called(id: unknown): string {
    return `    ${(this.names.get(id) ?? 'lead').padEnd(NAME)}`;
  }

  private line(who: string, sign: string, words: string, remark = ''): void {
    const head = `${who}${sign} `;
    const [first = '', ...rest] = wrapped(sanitize(words), this.width - head.length);
    const indent = ' '.repeat(head.length);
    const last = head.length + (rest.at(-1) ?? first).length;
    const gap = last + remark.length < this.width ? ' ' : `\n${indent}`;
    const end = remark === '' ? '' : `${gap}${this.paint.dim(remark)}`;
    const lines = [`${this.paint.dim(who)}${sign} ${first}`, ...rest.map((it) => `${indent}${it}`)];
    const told = `${lines.join('\n')}${end}\n`;
    if (this.isTalking) this.asides.push(told);
    else this.print(told);
  }

  /** The words of the lead as they are written. */
  private talk({ type, content_block, delta }: Block): void {
    const block = content_block as Block | undefined;
    const piece = delta as Block | undefined;
    if (type === 'content_block_start' && block?.type === 'text') {
      this.isTalking = true;
      this.print(`\n${this.signs.says} `);
    } else if (type === 'content_block_stop') this.endTalk();
    else if (piece?.type === 'text_delta') this.print(sanitize(wordOf(piece.text)));
  }

  private endTalk(): void {
    if (!this.isTalking) return;
    this.isTalking = false;
    this.print(`\n${this.asides.splice(0).join('')}`);
  }
}

const blocksIn = ({ message }: DemoLine): readonly Block[] => {
  const { content } = Object(message) as Block;
  return Array.isArray(content) ? (content as Block[]) : [];
};

const COUNTS = /\bpass \d+.*\bfail \d+/;

/** Of the output of tests it is what they came to; of everything else the first line. */
const tellingLine = (content: unknown): string => {
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  const lines = text.trimEnd().split('\n');
  const counts = lines.filter((line) => /\b(pass|fail) \d/.test(line));
  const telling = counts.length > 0 ? counts.join(', ') : (lines[0] ?? '');
  return telling
    .replaceAll(/[#ℹ]\s*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 200);
};
