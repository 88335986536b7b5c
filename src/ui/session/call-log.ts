/** Call log: finished calls of a session with input and output, for the pager. */
import { redact } from '../../policy/redaction/redact.js';
import type { WireBlock } from '../../protocol/model/wire-block.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import {
  type CallReport,
  formatCall,
  resultContentText,
} from '../../terminal/format/format-call.js';
import type { Paint } from '../../terminal/terminal.js';
import { foldLine } from '../../terminal/text/fit-text.js';
import { plural } from '../../terminal/text/format-number.js';
import { exactText, oneLine, sanitize, stripEscapes } from '../../terminal/text/sanitize.js';
import { type DiffLine, unifiedDiff } from '../../terminal/text/unified-diff.js';

export type CallStartedItem = Extract<FeedItem, { type: 'tool.started' }>;
export type CallEndedItem = Extract<FeedItem, { type: 'tool.ended' }>;

export interface LoggedCall {
  readonly tool: string;
  readonly label: string;
  readonly input: unknown;
  readonly report: CallReport;
  readonly output: string;
  /** Characters of the output that are not kept. */
  readonly leftOut: number;
  /** Duration in milliseconds; undefined for a call that never started. */
  readonly took: number | undefined;
}

/** Maximum calls kept. `skein explain` lists older calls from the journal. */
const MAX_CALLS = 100;
const MAX_CALL_OUTPUT = 400_000;
const MAX_TOTAL_OUTPUT = 4_000_000;
const MAX_LINES = 20_000;
const MAX_ARGUMENT_LENGTH = 20_000;
/** Characters that are folded at a time, because the time to segment text grows with the square of its length. */
const FOLD_CHARACTERS = 500;

export const callLabel = (description: string): string =>
  oneLine(sanitize(redact(description.slice(0, 2_000))), 400);

export class CallLog {
  readonly calls: LoggedCall[] = [];
  /** Number of calls that were dropped. */
  forgotten = 0;
  /** Characters of all kept outputs. */
  private size = 0;

  add(ended: CallEndedItem, took: number | undefined): LoggedCall {
    const whole = outputOf(ended);
    const output = whole.slice(0, MAX_CALL_OUTPUT);
    const call = {
      tool: ended.tool,
      input: ended.input,
      took,
      label: callLabel(ended.description),
      report: formatCall(ended),
      output,
      leftOut: whole.length - output.length,
    };
    this.calls.push(call);
    this.size += call.output.length;
    while (
      this.calls.length > MAX_CALLS ||
      (this.size > MAX_TOTAL_OUTPUT && this.calls.length > 1)
    ) {
      this.size -= this.calls.shift()?.output.length ?? 0;
      this.forgotten += 1;
    }
    return call;
  }
}

const outputOf = ({ raw }: CallEndedItem): string => {
  const { content } = JSON.parse(raw) as WireBlock;
  return resultContentText(content);
};

/**
 * Returns the lines of an opened call: arguments, file changes in colours, and output. The last line names the size of
 * omitted text, if any (law 14).
 */
export const callLines = (call: LoggedCall, columns: number, paint: Paint): readonly string[] => {
  const lines: string[] = [];
  let more = 0;
  for (const row of rowsOf(call, columns, paint)) {
    if (lines.length < MAX_LINES) lines.push(row);
    else more += 1;
  }
  const { leftOut } = call;
  if (more === 0 && leftOut === 0) return lines;
  const omissions = [
    ...(more === 0 ? [] : [plural(more, 'more line')]),
    ...(leftOut === 0 ? [] : [plural(leftOut, 'more character')]),
  ];
  return [...lines, ...inColumns(`(${omissions.join(' and ')} left out. ${WHERE})`, columns)];
};

const WHERE = 'The journal of the session has all of it.';

function* rowsOf({ tool, input, output }: LoggedCall, columns: number, paint: Paint) {
  const fields = inputOf(input);
  for (const line of argumentsOf(fields)) yield* inColumns(line, columns);
  const changes = changesOf(tool, fields);
  if (changes.length > 0) yield '';
  for (const change of changes) yield* diffRows(change, columns, paint);
  yield '';
  for (const line of stripEscapes(redact(output)).split('\n')) yield* inColumns(line, columns);
}

type Input = Readonly<Record<string, unknown>>;

const inputOf = (input: unknown): Input =>
  typeof input === 'object' && input !== null ? (input as Input) : {};

/** Arguments that are shown as a change instead. */
const CHANGES = new Set(['old_string', 'new_string', 'content', 'edits', 'new_source']);

const argumentsOf = (input: Input): readonly string[] =>
  Object.entries(input)
    .filter(([key]) => !CHANGES.has(key))
    .flatMap(([key, value]) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
      const shown = exactText(redact(text.slice(0, MAX_ARGUMENT_LENGTH)));
      const [first = '', ...others] = shown.split('\n');
      const more = text.length - MAX_ARGUMENT_LENGTH;
      if (more > 0) others.push(`(${plural(more, 'more character')} left out. ${WHERE})`);
      return [`${oneLine(exactText(key), 60)}: ${first}`, ...others.map((line) => `  ${line}`)];
    });

const changesOf = (tool: string, input: Input): readonly (readonly DiffLine[])[] => {
  const change = (before: unknown, after: unknown) =>
    typeof before === 'string' && typeof after === 'string' ? [unifiedDiff(before, after)] : [];
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
  removed: '- ',
  added: '+ ',
  hunk: '',
};

const diffRows = (diff: readonly DiffLine[], columns: number, paint: Paint): readonly string[] =>
  diff.flatMap(({ kind, text }) => {
    const rows = inColumns(`${SIGNS[kind]}${exactText(redact(text))}`, columns);
    if (kind === 'removed') return rows.map(paint.alarm);
    if (kind === 'added') return rows.map(paint.good);
    return kind === 'hunk' ? rows.map(paint.accent) : rows;
  });

/** Folds a line of any length into rows. */
const inColumns = (line: string, columns: number): readonly string[] => {
  const text = line.replaceAll('\t', '  ');
  const rows: string[] = [];
  let rest = '';
  for (let at = 0; at < text.length; at += FOLD_CHARACTERS) {
    const pieces = foldLine(rest + text.slice(at, at + FOLD_CHARACTERS), Math.max(10, columns));
    rest = pieces.at(-1) ?? '';
    rows.push(...pieces.slice(0, -1));
    // `foldLine` keeps trailing blanks in one row of any length, so a long rest is split here.
    if (rest.length <= 2 * FOLD_CHARACTERS) continue;
    rows.push(rest);
    rest = '';
  }
  return [...rows, rest].map((row) => row.trimEnd());
};
