/** The inbox in lines: the question that is shown, what can be answered, and how many more wait. */

import { answersOf, purposeRows, questionFacts } from '../../terminal/format/format-question.js';
import { type DraftView, viewDraft } from '../../terminal/input/draft-view.js';
import type { Paint } from '../../terminal/terminal.js';
import { plural } from '../../terminal/text/format-numbers.js';
import { shortAge } from '../../terminal/text/format-time.js';
import { exactText, oneLine } from '../../terminal/text/sanitize.js';
import { cut, folded } from '../../terminal/text/text-fit.js';
import { textWidth } from '../../terminal/text/text-width.js';
import type { Cursor } from '../screen/painter.js';
import { type ChoiceEntry, choicesOf, type Inbox, type InboxEntry } from './inbox.js';

export interface InboxView {
  readonly lines: readonly string[];
  /** Where words are typed, counted from the first of the lines. */
  readonly cursor?: Cursor;
}

export interface InboxPaper {
  readonly columns: number;
  /** Lines that it may take; what is asked gives way, and never the answers. */
  readonly rows: number;
  /** In front of what is chosen. */
  readonly sign: string;
  readonly paint: Paint;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How a person turns to it. */
  readonly howTo: string;
}

/** No lines when nothing is asked. */
export const inboxLines = (inbox: Inbox, paper: InboxPaper): InboxView => {
  const entry = inbox.shown;
  if (inbox.isLost) return { lines: lostLines(inbox, paper) };
  if (entry === undefined) return { lines: [] };
  const typed = typedView(inbox, entry, paper);
  const below = typed?.rows ?? [keysLine(inbox, entry, paper)];
  const least = entry.kind === 'permission' ? ENOUGH_ASKED : LEAST_ASKED;
  const answers = answerLines(inbox, entry, paper, paper.rows - 1 - below.length - least);
  const room = paper.rows - 1 - answers.length - below.length;
  const body = bodyOf(entry, paper, Math.max(LEAST_ASKED, room));
  const lines = [headLine(inbox, entry, paper), ...body, ...answers];
  return {
    lines: [...lines, ...below],
    ...(typed && { cursor: { row: lines.length + typed.row, column: typed.column } }),
  };
};

const lostLines = ({ entries }: Inbox, { paint, columns }: InboxPaper): readonly string[] => {
  const more = entries.length === 0 ? '' : ` to ${plural(entries.length, 'more question')}`;
  return [
    paint.warn(cut('? That question was answered elsewhere, or is not asked any more.', columns)),
    paint.dim(cut(`  Tab goes on${more}, Esc goes back; nothing else is heard`, columns)),
  ];
};

/** The words that go with an answer, as they are typed, and what to do with them. */
const typedView = (
  { line }: Inbox,
  { kind }: InboxEntry,
  { columns, rows, paint }: InboxPaper,
): DraftView | undefined => {
  if (line === undefined) return undefined;
  const label = kind === 'permission' ? '  Why not? ' : '  Your answer: ';
  const view = viewDraft(label, line.draft, columns);
  const most = Math.max(1, rows - 1 - LEAST_ASKED - 2);
  const first = Math.max(0, Math.min(view.row - most + 1, view.rows.length - most));
  const hint = paint.dim(cut('  Enter sends it, Esc goes back to the answers', columns));
  const shown = view.rows.slice(first, first + most);
  return { rows: [...shown, hint], row: view.row - first, column: view.column };
};

/** One below the other where there is room for all of them, else side by side. */
const answerLines = (
  inbox: Inbox,
  entry: InboxEntry,
  paper: InboxPaper,
  room: number,
): readonly string[] => {
  const choices = choicesOf(entry);
  if (choices.length <= room) {
    return choices.map((_, at) => answerLine(inbox, entry, at, paper));
  }
  if (room < 1 && inbox.line !== undefined) return [];
  const words = choices.map((choice, at) => {
    const isChosen = inbox.isTurnedTo && at === inbox.choice;
    return `${isChosen ? paper.sign : ' '} ${oneLine(exactText(choice), 20)}`;
  });
  return [cut(words.join(' '), paper.columns)];
};

/** A question does not change, and may be long: it is put into words once for each size. */
const bodies = new WeakMap<InboxEntry, { size: string; lines: readonly string[] }>();

const bodyOf = (entry: InboxEntry, paper: InboxPaper, rows: number): readonly string[] => {
  const size = `${paper.columns} ${rows}`;
  const known = bodies.get(entry);
  if (known?.size === size) return known.lines;
  const lines =
    entry.kind === 'permission'
      ? factsOf(entry, paper, rows)
      : shortened(wordsOf(entry, paper), rows, paper);
  bodies.set(entry, { size, lines });
  return lines;
};

const LEAST_ASKED = 2;
/** Who asks, a row of the input, that there is more, the risk, why and the rule: for these the answers stand in one row. */
const ENOUGH_ASKED = 6;

const shortened = (
  lines: readonly string[],
  most: number,
  paper: InboxPaper,
): readonly string[] => {
  if (lines.length <= most) return lines;
  const rest = lines.length - most + 1;
  const hint = cut(`  ${plural(rest, 'line')} not shown here: v shows all`, paper.columns);
  return [...lines.slice(0, most - 1), paper.paint.warn(hint)];
};

const headLine = (inbox: Inbox, entry: InboxEntry, { paint, now }: InboxPaper): string => {
  const { entries } = inbox;
  const at = entries.findIndex(({ id }) => id === entry.id) + 1;
  const which = entries.length === 1 ? 'A question' : `Question ${at} of ${entries.length}`;
  return `${paint.warn('?')} ${paint.strong(which)} ${paint.dim(`(${shortAge(now - entry.askedAt)} ago)`)}`;
};

const factsOf = (
  { question, asker, purpose }: Extract<InboxEntry, { kind: 'permission' }>,
  { columns, paint }: InboxPaper,
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

const wordsOf = (
  { question, asker, purpose }: ChoiceEntry,
  { columns, paint }: InboxPaper,
): readonly string[] => [
  paint.strong(`${asker} has a question.`),
  ...(purpose === undefined ? [] : purposeRows(purpose, columns)),
  ...questionRows(question.question, columns),
];

/** All of what an agent wants to know, behind the gutter of what is not ours. */
export const questionRows = (text: string, columns: number): readonly string[] =>
  exactText(text.slice(0, LONGEST_QUESTION))
    .split('\n')
    .flatMap((line) => folded(line, columns - 5).map((piece) => `  | ${piece}`));

const LONGEST_QUESTION = 100_000;

const answerLine = (
  inbox: Inbox,
  entry: InboxEntry,
  at: number,
  { columns, paint, sign: chosen }: InboxPaper,
): string => {
  const isChosen = inbox.isTurnedTo && at === inbox.choice;
  const sign = isChosen ? chosen : ' ';
  // In the order of what can be chosen, each with its key in front.
  const text =
    entry.kind === 'permission'
      ? (answersOf(entry.question)[at] ?? '')
      : `${at + 1}  ${oneLine(optionText(inbox, entry, at), 400)}`;
  const line = cut(`${sign} ${text}`, columns);
  return isChosen ? paint.accent(line) : line;
};

const optionText = ({ ticked }: Inbox, { question }: ChoiceEntry, at: number): string => {
  const option = question.options[at];
  if (option === undefined) return 'in your own words';
  const box = question.multiple ? (ticked.has(at) ? '[x] ' : '[ ] ') : '';
  const more = option.description === undefined ? '' : ` (${exactText(option.description)})`;
  return `${box}${exactText(option.label)}${more}`;
};

const keysLine = (
  inbox: Inbox,
  entry: InboxEntry,
  { paint, howTo, columns }: InboxPaper,
): string => {
  const others = inbox.entries.length - 1;
  const more = others === 0 ? '' : ` · ${plural(others, 'more question')}`;
  if (!inbox.isTurnedTo) return paint.dim(cut(`  ${howTo} answers it${more}`, columns));
  const letters = choicesOf(entry).map((choice) => choice.slice(0, 1));
  const ways = entry.kind === 'permission' ? letters.join(' ') : 'numbers';
  const keys = keysOf(entry, ways, others > 0);
  if (inbox.choice !== undefined) return paint.dim(keysWithin(keys, columns));
  // Enter would do nothing.
  const [, ...rest] = keys.filter(({ long }) => long !== CONFIRMS);
  const nothing = {
    long: `Nothing is chosen: ${ways} or arrows choose`,
    short: `Nothing is chosen: ${ways}`,
  };
  return paint.warn(keysWithin([nothing, ...rest], columns));
};

interface KeyHint {
  readonly long: string;
  readonly short: string;
  /** The one with the least is left out first; without it, never. */
  readonly weight?: number;
}

const CONFIRMS = 'Enter confirms';

const keysOf = (entry: InboxEntry, ways: string, hasOthers: boolean): readonly KeyHint[] => [
  // The answers have their keys in front.
  { long: `${ways} or arrows choose`, short: ways, weight: 1 },
  ...(entry.kind === 'choice' && entry.question.multiple
    ? [{ long: 'space ticks', short: 'space ticks', weight: 4 }]
    : []),
  { long: CONFIRMS, short: CONFIRMS },
  { long: 'v shows all of it', short: 'v all', weight: 2 },
  ...(hasOthers ? [{ long: 'Tab the next', short: 'Tab next', weight: 3 }] : []),
  { long: 'Esc later', short: 'Esc later' },
];

/** In short words where the long ones do not fit, then without what matters least. */
const keysWithin = (keys: readonly KeyHint[], columns: number): string => {
  const line = (words: readonly string[]) => `  ${words.join(' · ')}`;
  const whole = line(keys.map(({ long }) => long));
  const short = line(keys.map((key) => key.short));
  if (textWidth(whole) <= columns) return whole;
  const least = Math.min(...keys.map(({ weight = Number.POSITIVE_INFINITY }) => weight));
  if (textWidth(short) <= columns || !Number.isFinite(least)) return cut(short, columns);
  return keysWithin(
    keys.filter(({ weight }) => weight !== least),
    columns,
  );
};
