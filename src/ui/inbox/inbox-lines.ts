/** Inbox lines: the shown question, its answers, the keys, and the number of waiting questions. */

import { answerLines, purposeRows, questionFacts } from '../../terminal/format/format-question.js';
import { type DraftView, viewDraft } from '../../terminal/input/draft-view.js';
import type { Paint } from '../../terminal/terminal.js';
import { cutText, foldLine } from '../../terminal/text/fit-text.js';
import { plural } from '../../terminal/text/format-number.js';
import { formatAge } from '../../terminal/text/format-time.js';
import { exactText, oneLine } from '../../terminal/text/sanitize.js';
import { textWidth } from '../../terminal/text/text-width.js';
import type { Cursor } from '../screen/painter.js';
import {
  type ChoiceInboxEntry,
  choicesOf,
  type InboxEntry,
  type QuestionInbox,
} from './question-inbox.js';

export interface InboxView {
  readonly lines: readonly string[];
  /** Text cursor within `lines`. */
  readonly cursor?: Cursor;
}

interface InboxLinesOptions {
  readonly columns: number;
  /** Maximum lines. The question is shortened, never the answers. */
  readonly rows: number;
  /** Glyph in front of the chosen answer. */
  readonly sign: string;
  readonly paint: Paint;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Key that focuses the inbox. */
  readonly howTo: string;
}

/** Returns no lines if no question is open. */
export const inboxLines = (inbox: QuestionInbox, options: InboxLinesOptions): InboxView => {
  const entry = inbox.shown;
  if (inbox.isQuestionGone) return { lines: lostLines(inbox, options) };
  if (entry === undefined) return { lines: [] };
  const typed = typedView(inbox, entry, options);
  const below = typed?.rows ?? [keysLine(inbox, entry, options)];
  const least = entry.kind === 'permission' ? FULL_QUESTION_ROWS : MIN_QUESTION_ROWS;
  const answers = shownAnswers(inbox, entry, options, options.rows - 1 - below.length - least);
  const room = options.rows - 1 - answers.length - below.length;
  const body = bodyOf(entry, options, Math.max(MIN_QUESTION_ROWS, room));
  const lines = [headLine(inbox, entry, options), ...body, ...answers];
  return {
    lines: [...lines, ...below],
    ...(typed && { cursor: { row: lines.length + typed.row, column: typed.column } }),
  };
};

const lostLines = (
  { entries }: QuestionInbox,
  { paint, columns }: InboxLinesOptions,
): readonly string[] => {
  const more = entries.length === 0 ? '' : ` to ${plural(entries.length, 'more question')}`;
  return [
    paint.warn(cutText('? That question was answered elsewhere, or was withdrawn.', columns)),
    paint.dim(cutText(`  Tab continues${more}, Esc goes back; other keys are ignored`, columns)),
  ];
};

/** Returns the typed text of the answer with a hint; undefined if no text is typed. */
const typedView = (
  { answerEditor }: QuestionInbox,
  { kind }: InboxEntry,
  { columns, rows, paint }: InboxLinesOptions,
): DraftView | undefined => {
  if (answerEditor === undefined) return undefined;
  const label = kind === 'permission' ? '  Why not? ' : '  Your answer: ';
  const view = viewDraft(label, answerEditor.draft, columns);
  const maxRows = Math.max(1, rows - 1 - MIN_QUESTION_ROWS - 2);
  const first = Math.max(0, Math.min(view.row - maxRows + 1, view.rows.length - maxRows));
  const hint = paint.dim(cutText('  Enter sends it, Esc goes back to the answers', columns));
  const shown = view.rows.slice(first, first + maxRows);
  return { rows: [...shown, hint], row: view.row - first, column: view.column };
};

/** Returns the answers below each other if all of them fit, else side by side. */
const shownAnswers = (
  inbox: QuestionInbox,
  entry: InboxEntry,
  options: InboxLinesOptions,
  room: number,
): readonly string[] => {
  const choices = choicesOf(entry);
  if (choices.length <= room) {
    return choices.map((_, at) => answerLine(inbox, entry, at, options));
  }
  if (room < 1 && inbox.answerEditor !== undefined) return [];
  const labels = choices.map((choice, at) => {
    const isChosen = inbox.isFocused && at === inbox.choice;
    return `${isChosen ? options.sign : ' '} ${oneLine(exactText(choice), 20)}`;
  });
  return [cutText(labels.join(' '), options.columns)];
};

/** Formatted questions by entry. A question never changes and may be long, so it is formatted once per size. */
const bodies = new WeakMap<InboxEntry, { size: string; lines: readonly string[] }>();

const bodyOf = (entry: InboxEntry, options: InboxLinesOptions, rows: number): readonly string[] => {
  const size = `${options.columns} ${rows}`;
  const cached = bodies.get(entry);
  if (cached?.size === size) return cached.lines;
  const lines =
    entry.kind === 'permission'
      ? factsOf(entry, options, rows)
      : shortened(choiceText(entry, options), rows, options);
  bodies.set(entry, { size, lines });
  return lines;
};

const MIN_QUESTION_ROWS = 2;
/**
 * Rows for asker, input, note about omitted text, risk, reason and rule. With fewer rows the answers share one row to
 * make room.
 */
const FULL_QUESTION_ROWS = 6;

const shortened = (
  lines: readonly string[],
  maxLines: number,
  options: InboxLinesOptions,
): readonly string[] => {
  if (lines.length <= maxLines) return lines;
  const rest = lines.length - maxLines + 1;
  const hint = cutText(`  ${plural(rest, 'line')} not shown here: v shows all`, options.columns);
  return [...lines.slice(0, maxLines - 1), options.paint.warn(hint)];
};

const headLine = (
  inbox: QuestionInbox,
  entry: InboxEntry,
  { paint, now }: InboxLinesOptions,
): string => {
  const { entries } = inbox;
  const at = entries.findIndex(({ id }) => id === entry.id) + 1;
  const position = entries.length === 1 ? 'A question' : `Question ${at} of ${entries.length}`;
  return `${paint.warn('?')} ${paint.strong(position)} ${paint.dim(`(${formatAge(now - entry.askedAt)} ago)`)}`;
};

const factsOf = (
  { question, asker, purpose }: Extract<InboxEntry, { kind: 'permission' }>,
  { columns, paint }: InboxLinesOptions,
  rows: number,
): readonly string[] => {
  const view = { asker, columns, rows, ...(purpose !== undefined && { purpose }) };
  return questionFacts(question, view, 'v shows it').map((line) => {
    if (!line.startsWith('  ')) return paint.strong(line);
    if (line.startsWith('  Not all of it')) return paint.warn(line);
    if (line.startsWith('  risk: high')) return paint.alarm(line);
    if (line.startsWith('  | + ')) return paint.good(line);
    return line.startsWith('  | - ') ? paint.alarm(line) : line;
  });
};

const choiceText = (
  { question, asker, purpose }: ChoiceInboxEntry,
  { columns, paint }: InboxLinesOptions,
): readonly string[] => [
  paint.strong(`${asker} has a question.`),
  ...(purpose === undefined ? [] : purposeRows(purpose, columns)),
  ...questionRows(question.question, columns),
];

/** Returns the full text of an agent's question, behind the gutter for text from models. */
export const questionRows = (text: string, columns: number): readonly string[] =>
  exactText(text.slice(0, MAX_QUESTION_LENGTH))
    .split('\n')
    .flatMap((line) => foldLine(line, columns - 5).map((piece) => `  | ${piece}`));

const MAX_QUESTION_LENGTH = 100_000;

const answerLine = (
  inbox: QuestionInbox,
  entry: InboxEntry,
  at: number,
  { columns, paint, sign: chosen }: InboxLinesOptions,
): string => {
  const isChosen = inbox.isFocused && at === inbox.choice;
  const sign = isChosen ? chosen : ' ';
  // `answerLines` has the order of `choicesOf`.
  const text =
    entry.kind === 'permission'
      ? (answerLines(entry.question)[at] ?? '')
      : `${at + 1}  ${oneLine(optionText(inbox, entry, at), 400)}`;
  const line = cutText(`${sign} ${text}`, columns);
  return isChosen ? paint.accent(line) : line;
};

const optionText = (
  { checked }: QuestionInbox,
  { question }: ChoiceInboxEntry,
  at: number,
): string => {
  const option = question.options[at];
  if (option === undefined) return 'in your own words';
  const box = question.multiple ? (checked.has(at) ? '[x] ' : '[ ] ') : '';
  const more = option.description === undefined ? '' : ` (${exactText(option.description)})`;
  return `${box}${exactText(option.label)}${more}`;
};

const keysLine = (
  inbox: QuestionInbox,
  entry: InboxEntry,
  { paint, howTo, columns }: InboxLinesOptions,
): string => {
  const others = inbox.entries.length - 1;
  const more = others === 0 ? '' : ` · ${plural(others, 'more question')}`;
  if (!inbox.isFocused) return paint.dim(cutText(`  ${howTo} answers it${more}`, columns));
  const letters = choicesOf(entry).map((choice) => choice.slice(0, 1));
  const ways = entry.kind === 'permission' ? letters.join(' ') : 'numbers';
  const keys = keysOf(entry, ways, others > 0);
  if (inbox.choice !== undefined) return paint.dim(keysWithin(keys, columns));
  // Enter has no effect while no answer is chosen.
  const [, ...rest] = keys.filter(({ long }) => long !== CONFIRMS);
  const chooseHint = {
    long: `Nothing is chosen: ${ways} or arrows choose`,
    short: `Nothing is chosen: ${ways}`,
  };
  return paint.warn(keysWithin([chooseHint, ...rest], columns));
};

interface KeyHint {
  readonly long: string;
  readonly short: string;
  /** Importance: the smallest is dropped first. Default: never dropped. */
  readonly weight?: number;
}

const CONFIRMS = 'Enter confirms';

const keysOf = (entry: InboxEntry, ways: string, hasOthers: boolean): readonly KeyHint[] => [
  // Least important, because the answers show their keys.
  { long: `${ways} or arrows choose`, short: ways, weight: 1 },
  ...(entry.kind === 'choice' && entry.question.multiple
    ? [{ long: 'space ticks', short: 'space ticks', weight: 4 }]
    : []),
  { long: CONFIRMS, short: CONFIRMS },
  { long: 'v shows all of it', short: 'v all', weight: 2 },
  ...(hasOthers ? [{ long: 'Tab the next', short: 'Tab next', weight: 3 }] : []),
  { long: 'Esc later', short: 'Esc later' },
];

/** Joins the hints in their long form, else in their short form, else without the least important ones. */
const keysWithin = (keys: readonly KeyHint[], columns: number): string => {
  const line = (hints: readonly string[]) => `  ${hints.join(' · ')}`;
  const whole = line(keys.map(({ long }) => long));
  const short = line(keys.map((key) => key.short));
  if (textWidth(whole) <= columns) return whole;
  const least = Math.min(...keys.map(({ weight = Number.POSITIVE_INFINITY }) => weight));
  if (textWidth(short) <= columns || !Number.isFinite(least)) return cutText(short, columns);
  return keysWithin(
    keys.filter(({ weight }) => weight !== least),
    columns,
  );
};

/** Returns the number of waiting questions for a line of another scene, or '' if there are none. */
export const waitingQuestionLine = (count: number, width: number): string => {
  if (count === 0) return '';
  const verb = count === 1 ? 'waits' : 'wait';
  return cutText(`? ${plural(count, 'question')} ${verb} for you: i answers`, width);
};
