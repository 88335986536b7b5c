/** The calls of a session as a person can look at them again: what each was given, and what came of it. */
import { redact } from '../../policy/redaction/redaction.js';
import type { WireBlock } from '../../protocol/model/wire.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { type CallReport, reportCall } from '../../terminal/format/format-tool.js';
import type { Paint } from '../../terminal/terminal.js';
import { plural } from '../../terminal/text/format-numbers.js';
import { exactText, oneLine, sanitize, uncoloured } from '../../terminal/text/sanitize.js';
import { folded } from '../../terminal/text/text-fit.js';
import { type DiffLine, diffLines } from '../../terminal/text/unified-diff.js';

export type StartedCall = Extract<FeedItem, { type: 'tool.started' }>;
export type EndedCall = Extract<FeedItem, { type: 'tool.ended' }>;

export interface LoggedCall {
  readonly tool: string;
  readonly label: string;
  readonly input: unknown;
  readonly report: CallReport;
  readonly output: string;
  /** Characters of its output that are not kept here. */
  readonly leftOut: number;
  /** Milliseconds; undefined of a call that never started. */
  readonly took: number | undefined;
}

/** Older ones are in the journal: `skein explain` has them. */
const MOST_CALLS = 100;
const LONGEST_OUTPUT = 400_000;
const MOST_OUTPUT = 4_000_000;
const MOST_LINES = 20_000;
const LONGEST_ARGUMENT = 20_000;
/** Characters that are folded at a time: to tell wide letters apart takes the square of their number. */
const FOLDED_AT_ONCE = 500;

export const labelOf = (description: string): string =>
  oneLine(sanitize(redact(description.slice(0, 2_000))), 400);

export class CallLog {
  readonly calls: LoggedCall[] = [];
  /** How many came before those that are kept. */
  forgotten = 0;
  /** Of all their outputs, in characters. */
  private size = 0;

  add(ended: EndedCall, took: number | undefined): LoggedCall {
    const whole = outputOf(ended);
    const output = whole.slice(0, LONGEST_OUTPUT);
    const call = {
      tool: ended.tool,
      input: ended.input,
      took,
      label: labelOf(ended.description),
      report: reportCall(ended),
      output,
      leftOut: whole.length - output.length,
    };
    this.calls.push(call);
    this.size += call.output.length;
    while (this.calls.length > MOST_CALLS || (this.size > MOST_OUTPUT && this.calls.length > 1)) {
      this.size -= this.calls.shift()?.output.length ?? 0;
      this.forgotten += 1;
    }
    return call;
  }
}

const outputOf = ({ raw }: EndedCall): string => {
  const { content } = JSON.parse(raw) as WireBlock;
  if (typeof content === 'string') return content;
  return ((content ?? []) as readonly WireBlock[])
    .map((block) => (block.type === 'text' ? String(block.text) : `(${block.type})`))
    .join('\n');
};

/**
 * What a person sees who opens a call: the change in colours where it changed a file, then its output. The
 * last line says what is left out, if anything is (law 14).
 */
export const callLines = (call: LoggedCall, columns: number, paint: Paint): readonly string[] => {
  const lines: string[] = [];
  let more = 0;
  for (const row of rowsOf(call, columns, paint)) {
    if (lines.length < MOST_LINES) lines.push(row);
    else more += 1;
  }
  const { leftOut } = call;
  if (more === 0 && leftOut === 0) return lines;
  const what = [
    ...(more === 0 ? [] : [plural(more, 'more line')]),
    ...(leftOut === 0 ? [] : [plural(leftOut, 'more character')]),
  ];
  return [...lines, ...inColumns(`(${what.join(' and ')} left out. ${WHERE})`, columns)];
};

const WHERE = 'The journal of the session has all of it.';

function* rowsOf({ tool, input, output }: LoggedCall, columns: number, paint: Paint) {
  const given = inputOf(input);
  for (const line of argumentsOf(given)) yield* inColumns(line, columns);
  const changes = changesOf(tool, given);
  if (changes.length > 0) yield '';
  for (const change of changes) yield* diffRows(change, columns, paint);
  yield '';
  for (const line of uncoloured(redact(output)).split('\n')) yield* inColumns(line, columns);
}

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
      const shown = exactText(redact(text.slice(0, LONGEST_ARGUMENT)));
      const [first = '', ...others] = shown.split('\n');
      const more = text.length - LONGEST_ARGUMENT;
      if (more > 0) others.push(`(${plural(more, 'more character')} left out. ${WHERE})`);
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

/** All of the line, whatever its length. */
const inColumns = (line: string, columns: number): readonly string[] => {
  const text = line.replaceAll('\t', '  ');
  const rows: string[] = [];
  let rest = '';
  for (let at = 0; at < text.length; at += FOLDED_AT_ONCE) {
    const pieces = folded(rest + text.slice(at, at + FOLDED_AT_ONCE), Math.max(10, columns));
    rest = pieces.at(-1) ?? '';
    rows.push(...pieces.slice(0, -1));
    // A row may be as long as it likes where nothing of it is seen: blanks at its end.
    if (rest.length <= 2 * FOLDED_AT_ONCE) continue;
    rows.push(rest);
    rest = '';
  }
  return [...rows, rest].map((row) => row.trimEnd());
};
