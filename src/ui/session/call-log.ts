/** The calls of a session as a person can look at them again: what each was given, and what came of it. */
import { redact } from '../../policy/redaction.js';
import type { FeedItem } from '../../protocol/feed.js';
import type { WireBlock } from '../../protocol/wire.js';
import { exactText, harmless, oneLine, uncoloured } from '../../terminal/harmless-text.js';
import type { Paint } from '../../terminal/terminal.js';
import { folded } from '../../terminal/text-fit.js';
import { type CallReport, reportCall } from '../../terminal/tool-lines.js';
import { type DiffLine, diffLines } from '../../terminal/unified-diff.js';

export type StartedCall = Extract<FeedItem, { type: 'tool.started' }>;
export type EndedCall = Extract<FeedItem, { type: 'tool.ended' }>;

export interface LoggedCall {
  readonly tool: string;
  readonly label: string;
  readonly input: unknown;
  readonly report: CallReport;
  readonly output: string;
  /** Milliseconds; undefined of a call that never started. */
  readonly took: number | undefined;
}

/** Older ones are in the journal: `skein explain` has them. */
const MOST_CALLS = 100;
const LONGEST_OUTPUT = 400_000;
const MOST_OUTPUT = 4_000_000;
const MOST_LINES = 20_000;

export const labelOf = (description: string): string =>
  oneLine(harmless(redact(description.slice(0, 2_000))), 400);

export class CallLog {
  readonly calls: LoggedCall[] = [];
  /** Of all their outputs, in characters. */
  private size = 0;

  add(ended: EndedCall, took: number | undefined): LoggedCall {
    const call = {
      ...{ tool: ended.tool, input: ended.input, took },
      label: labelOf(ended.description),
      report: reportCall(ended),
      output: outputOf(ended),
    };
    this.calls.push(call);
    this.size += call.output.length;
    while (this.calls.length > MOST_CALLS || (this.size > MOST_OUTPUT && this.calls.length > 1)) {
      this.size -= this.calls.shift()?.output.length ?? 0;
    }
    return call;
  }
}

const outputOf = ({ raw }: EndedCall): string => {
  const { content } = JSON.parse(raw) as WireBlock;
  if (typeof content === 'string') return content.slice(0, LONGEST_OUTPUT);
  return ((content ?? []) as readonly WireBlock[])
    .map((block) => (block.type === 'text' ? String(block.text) : `(${block.type})`))
    .join('\n')
    .slice(0, LONGEST_OUTPUT);
};

/** What a person sees who opens a call: the change in colours where it changed a file, then its output. */
export const callLines = (
  { tool, input, output }: LoggedCall,
  columns: number,
  paint: Paint,
): readonly string[] => {
  const given = inputOf(input);
  const changes = changesOf(tool, given);
  const lines = [
    ...argumentsOf(given).flatMap((line) => inColumns(line, columns)),
    ...(changes.length === 0 ? [] : ['', ...changes.flatMap((it) => diffRows(it, columns, paint))]),
    '',
    ...uncoloured(redact(output))
      .split('\n', MOST_LINES)
      .flatMap((line) => inColumns(line, columns)),
  ];
  return lines.slice(0, MOST_LINES);
};

type Input = Readonly<Record<string, unknown>>;

const inputOf = (input: unknown): Input =>
  typeof input === 'object' && input !== null ? (input as Input) : {};

/** What is shown as a change is not shown as arguments too. */
const CHANGES = new Set(['old_string', 'new_string', 'content', 'edits', 'new_source']);

const argumentsOf = (input: Input): readonly string[] =>
  Object.entries(input)
    .filter(([key]) => !CHANGES.has(key))
    .flatMap(([key, value]) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
      const [first = '', ...others] = exactText(redact(text.slice(0, 20_000))).split('\n');
      return [`${oneLine(exactText(key), 60)}: ${first}`, ...others.map((line) => `  ${line}`)];
    });

const changesOf = (tool: string, input: Input): readonly (readonly DiffLine[])[] => {
  const change = (before: unknown, after: unknown) =>
    typeof before === 'string' && typeof after === 'string' ? [diffLines(before, after)] : [];
  if (tool === 'Write') return change('', input.content);
  if (tool === 'NotebookEdit') return change('', input.new_source);
  if (Array.isArray(input.edits)) {
    return input.edits.flatMap((edit: unknown) => {
      const { old_string, new_string } = inputOf(edit);
      return change(old_string, new_string);
    });
  }
  return change(input.old_string, input.new_string);
};

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = {
  same: '  ',
  gone: '- ',
  new: '+ ',
  place: '',
};

const diffRows = (diff: readonly DiffLine[], columns: number, paint: Paint): readonly string[] =>
  diff.flatMap(({ kind, text }) => {
    const rows = inColumns(`${SIGNS[kind]}${exactText(redact(text))}`, columns);
    if (kind === 'gone') return rows.map(paint.alarm);
    if (kind === 'new') return rows.map(paint.good);
    return kind === 'place' ? rows.map(paint.accent) : rows;
  });

const inColumns = (line: string, columns: number): readonly string[] =>
  folded(line.slice(0, 20_000).replaceAll('\t', '  '), Math.max(10, columns)).map((piece) =>
    piece.trimEnd(),
  );
