/** Tells a person who does what in `skein demo`, while it happens: the lead at the margin, its agents below it. */

import { textOf } from '../context/last-answer.js';
import type { FeedItem } from '../protocol/feed.js';
import type { StreamEvent } from '../protocol/model.js';
import type { PermissionQuestion } from '../protocol/permission.js';
import { type AgentTag, type ChildReport, outcomeOf } from '../protocol/swarm.js';
import type { WireBlock } from '../protocol/wire.js';
import type { ChartStyle } from './bar-chart.js';
import { money, plural, wrapped } from './figures.js';
import { type Paint, paintFor } from './terminal.js';

const SIGNS = { says: '●', does: '▸', done: '✓', fails: '✗', joins: '+', asks: '?' };
const ASCII: typeof SIGNS = { says: '*', does: '>', done: '=', fails: 'x', joins: '+', asks: '?' };

/** Room for the name of an agent. */
const NAME = 6;

export class DemoNarration {
  private readonly signs: typeof SIGNS;
  private readonly paint: Paint;
  private readonly width: number;
  private readonly print: (text: string) => void;
  private isTalking = false;
  /** What others did while the lead was talking. */
  private readonly asides: string[] = [];
  private readonly names = new Map<string, string>();

  constructor({ width, unicode, coloured }: ChartStyle, print: (text: string) => void) {
    this.signs = unicode ? SIGNS : ASCII;
    this.paint = paintFor(coloured);
    this.width = width;
    this.print = print;
  }

  tell(item: FeedItem): void {
    switch (item.type) {
      case 'stream.event':
        this.talk(item.event);
        break;
      case 'agent.spawned':
        this.join(item.agent);
        break;
      case 'agent.feed':
        this.act(item.item, `    ${this.nameOf(item.agent.id)}`);
        break;
      case 'agent.ended':
        this.report(item.report);
        break;
      default:
        this.act(item, '  ');
    }
  }

  /** Before the answer of whoever is asked. */
  ask({ agent, description }: PermissionQuestion): void {
    this.line(
      `    ${this.nameOf(agent)}`,
      this.signs.asks,
      `May I? ${description}`,
      '(no rule allows it)',
    );
  }

  answer({ agent }: PermissionQuestion, words: string): void {
    this.line(`    ${this.nameOf(agent)}`, this.signs.asks, words);
  }

  private join({ id, type, name = id, description }: AgentTag): void {
    this.names.set(id, name);
    this.line('  ', this.signs.joins, `${type ?? 'fork'} ${name}: ${description}`);
  }

  private act(item: FeedItem, who: string): void {
    if (item.type === 'tool.started' && item.tool !== 'Task') {
      this.line(who, this.signs.does, item.description);
    } else if (item.type === 'tool.ended' && item.tool !== 'Task') {
      const { is_error, content } = JSON.parse(item.raw) as WireBlock;
      const said = tellingLine(content);
      if (is_error === true) this.line(who, this.signs.fails, said);
      else if (item.tool === 'Bash') this.line(who, this.signs.done, said);
    } else if (item.type === 'call.denied') {
      this.line(who, this.signs.fails, `${item.denial.tool} was denied: ${item.denial.reason}`);
    } else if (item.type === 'notice') this.line(who, this.signs.fails, item.text);
  }

  private report({ agent, stop, text, turns, cost }: ChildReport): void {
    const isDone = outcomeOf(stop) === 'completed';
    const words = isDone ? text : [stop.reason, stop.detail ?? ''].filter(Boolean).join(': ');
    const took = `(${plural(turns, 'turn')}, ${money(cost)})`;
    const sign = isDone ? this.signs.done : this.signs.fails;
    this.line(`    ${this.nameOf(agent.id)}`, sign, words, took);
  }

  private nameOf(id: string): string {
    return (this.names.get(id) ?? 'lead').padEnd(NAME);
  }

  private line(who: string, sign: string, words: string, remark = ''): void {
    const head = `${who}${sign} `;
    const [first = '', ...rest] = wrapped(words, this.width - head.length);
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
  private talk({ type, content_block, delta }: StreamEvent): void {
    const block = content_block as { type?: string } | undefined;
    const piece = delta as { type?: string; text?: string } | undefined;
    if (type === 'content_block_start' && block?.type === 'text') {
      this.isTalking = true;
      this.print(`\n${this.signs.says} `);
    } else if (type === 'content_block_stop' && this.isTalking) {
      this.isTalking = false;
      this.print(`\n${this.asides.splice(0).join('')}`);
    } else if (piece?.type === 'text_delta') this.print(piece.text ?? '');
  }
}

/** Of the output of tests it is what they came to; of everything else the first line. */
const tellingLine = (content: unknown): string => {
  const text = typeof content === 'string' ? content : textOf((content ?? []) as WireBlock[]);
  const lines = text.trimEnd().split('\n');
  const counts = lines.filter((line) => /\b(pass|fail) \d/.test(line));
  const telling = counts.length > 0 ? counts.join(', ') : (lines[0] ?? '');
  return telling
    .replaceAll(/[#ℹ]\s*/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 200);
};
