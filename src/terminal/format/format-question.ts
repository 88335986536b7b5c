/**
 * Formats a permission question: asker, tool, input, reason, risk, and the effect of each answer.
 *
 * Text from the model stands behind a gutter in every row, so that it cannot imitate other parts of the screen. A long
 * input is shown by its start and end so that the question fits on the screen, because text that scrolls away is not
 * read. Omitted lines are counted in a visible note.
 */
import { redact } from '../../policy/redaction/redact.js';
import type { PermissionQuestion } from '../../protocol/permission/permission-question.js';
import type { Risk } from '../../protocol/permission/ruling.js';
import { cutText, foldLine } from '../text/fit-text.js';
import { exactText, oneLine } from '../text/sanitize.js';
import { formatInput, type Lines, valueLines } from './format-input.js';

/** Maximum lines of one value, or of one side of a change. */
const MAX_PART_LINES = 12;
/** Maximum screen rows of the whole input. */
const MAX_INPUT_ROWS = 12;
/** Rows of the input below which the remarks are cut to a row each instead. */
const MIN_INPUT_ROWS = 3;
const MAX_LINE_LENGTH = 600;
const MAX_REMARK_LENGTH = 200;

export interface QuestionOptions {
  /** Display name of the asking agent. */
  readonly asker: string;
  /** Ancestors of the asking agent, and its task. */
  readonly purpose?: string;
  readonly columns: number;
  /** Maximum rows without the answers. Default: no limit. */
  readonly rows?: number;
}

export const formatQuestion = (
  question: PermissionQuestion,
  view: QuestionOptions,
): readonly string[] => [
  ...questionFacts(question, view, 'v shows it'),
  ...answerLines(question).flatMap((line) => answerRows(line, view.columns)),
];

/** Returns one line per possible answer, its key first. */
export const answerLines = ({
  grant,
  isAlwaysAsked = false,
}: Pick<PermissionQuestion, 'grant' | 'isAlwaysAsked'>): readonly string[] => {
  if (grant === undefined) return ONCE_ONLY;
  return isAlwaysAsked ? ASKED_AGAIN : ANSWERS;
};

/**
 * Returns the question without the answers. `hint` says how to see omitted text. If the rows do not suffice, the
 * input is shortened first and then the remarks by `BY_WEIGHT`: the risk and the note about omitted text always stay,
 * because a person must see them before answering.
 */
export const questionFacts = (
  question: PermissionQuestion,
  view: QuestionOptions,
  hint: string,
): readonly string[] => {
  const { columns, rows = Number.POSITIVE_INFINITY } = view;
  const parts = formatInput(question);
  const shown = (line: string) => hideSecrets(cutLine(line, MAX_LINE_LENGTH));
  const input = parts
    .flatMap((part) => bothEnds(part, MAX_PART_LINES))
    .flatMap<string | Gap>((line) => (isGap(line) ? [line] : guttered([shown(line)], columns)));
  const isWhole =
    input.length <= MAX_INPUT_ROWS &&
    !input.some(isGap) &&
    parts.flat().every((line) => line === shown(line));
  const warning = [cutText(`  Not all of it is shown: ${hint}. If in doubt, deny.`, columns)];
  const facts = { ...remarksOf(question, view), warning: isWhole ? [] : warning };
  const all = inOrder(facts, gapless(bothEnds(input, MAX_INPUT_ROWS), columns));
  if (all.length <= rows) return all;
  const least = Math.min(input.length, MIN_INPUT_ROWS);
  const isTight = Object.values({ ...facts, warning }).flat().length + least > rows;
  const kept = weighed({ ...(isTight ? shortened(facts, columns) : facts), warning }, rows);
  const room = Math.min(MAX_INPUT_ROWS, rows - Object.values(kept).flat().length);
  const inputRows = gapless(bothEnds(input, Math.max(1, room - 1)), columns).slice(0, room);
  return inOrder(kept, inputRows);
};

/** Remarks around the input. */
type Facts = Readonly<Record<(typeof BY_WEIGHT)[number], Lines>>;

/** Remarks by importance; the last remark is dropped first. */
const BY_WEIGHT = ['risk', 'warning', 'head', 'rule', 'reason', 'path', 'purpose'] as const;

const remarksOf = (
  { tool, reason, risk, blockedPath, grant }: PermissionQuestion,
  { asker, purpose, columns }: QuestionOptions,
): Omit<Facts, 'warning'> => {
  const remark = (name: string, text: string | undefined) =>
    text === undefined ? [] : remarkRows(name, text, columns);
  return {
    head: [`${asker} asks to use ${oneLine(exactText(tool))}.`],
    purpose: purpose === undefined ? [] : purposeRows(purpose, columns),
    risk: remark('risk', RISKS[risk]),
    path: remark('path', blockedPath),
    reason: remark('reason', reason),
    rule: remark('rule', grant),
  };
};

const inOrder = (facts: Facts, input: Lines): Lines => {
  const { head, purpose, warning, risk, path, reason, rule } = facts;
  return [...head, ...purpose, ...input, ...warning, ...risk, ...path, ...reason, ...rule];
};

/** Cuts each remark to one row. */
const shortened = (facts: Facts, columns: number): Facts =>
  mapped(facts, ([first, ...others]) => {
    if (first === undefined) return [];
    return [others.length === 0 ? first : cutText(`${first}…`, columns)];
  });

/** Drops the least important rows beyond `rows`. */
const weighed = (facts: Facts, rows: number): Facts => {
  let room = rows;
  return mapped(facts, (lines) => {
    const kept = lines.slice(0, Math.max(0, room));
    room -= kept.length;
    return kept;
  });
};

const mapped = (facts: Facts, change: (lines: Lines) => Lines): Facts =>
  Object.fromEntries(BY_WEIGHT.map((name) => [name, change(facts[name])])) as Facts;

const gapless = (rows: readonly (string | Gap)[], columns: number): Lines =>
  rows.flatMap((row) => (isGap(row) ? guttered([gapText(row)], columns) : [row]));

/** Returns the rows that name the ancestors of the asking agent. */
export const purposeRows = (purpose: string, columns: number): readonly string[] =>
  remarkRows('for', purpose, columns);

/** Returns the reason, the whole input and the rule of a lasting answer, of any length. */
export const fullInputRows = (question: PermissionQuestion, columns: number): readonly string[] => {
  const { grant, risk, blockedPath, reason } = question;
  const rule = grant === undefined ? [] : valueLines('rule', grant);
  return [
    ...remarkRows('risk', RISKS[risk], columns),
    ...(blockedPath === undefined ? [] : guttered(valueLines('path', blockedPath), columns)),
    ...(reason === '' ? [] : guttered(valueLines('reason', reason), columns)),
    ...guttered([...formatInput(question).flat(), ...rule], columns),
  ];
};

const RISKS: Readonly<Record<Risk, string>> = {
  low: 'low, it changes nothing',
  medium: 'medium, it changes the workspace',
  high: 'high, it may leave the workspace, read secrets or be hard to undo',
};

const ANSWERS = [
  'o  once: this call and no other',
  's  session: all calls that the rule allows, until the session ends',
  'p  project: the same from now on, saved in .skein/settings.local.json',
  'd  deny: the call does not run, and you can say why',
];

/** Answers for calls that always need a person, regardless of the rules in the settings. */
const ASKED_AGAIN = ANSWERS.map((line) =>
  line.startsWith('p') ? 'p  project: the same; other sessions ask again, despite the rule' : line,
);

const ONCE_ONLY = [
  'o  once: this call and no other; such calls always ask',
  'd  deny: the call does not run, and you can say why',
];

/** Returns the text of a denial that the model reads. */
export const denialText = (reason: string): string =>
  reason === '' ? DENIED : `${DENIED} Reason: ${reason}`;

const DENIED = 'The user denied this call.';

const GUTTER = '  | ';
const CONTINUED_GUTTER = '  … ';

const guttered = (lines: Lines, columns: number): Lines =>
  lines.flatMap((line) =>
    foldLine(exactText(line).replaceAll('\t', '  '), widthWithin(columns, GUTTER.length)).map(
      (piece, at) => `${at === 0 ? GUTTER : CONTINUED_GUTTER}${piece.trimEnd()}`,
    ),
  );

/** Returns a remark that may quote the model: its further rows stand behind the gutter. */
const remarkRows = (name: string, text: string, columns: number): Lines => {
  const line = cutLine(hideSecrets(text.replaceAll(/\s+/g, ' ').trim()), MAX_REMARK_LENGTH);
  return foldLine(`${name}: ${exactText(line)}`, widthWithin(columns, GUTTER.length)).map(
    (piece, at) => `${at === 0 ? '  ' : CONTINUED_GUTTER}${piece.trimEnd()}`,
  );
};

const answerRows = (line: string, columns: number): Lines =>
  foldLine(line, widthWithin(columns, 5)).map(
    (piece, at) => `${at === 0 ? '  ' : '     '}${piece.trimEnd()}`,
  );

const widthWithin = (columns: number, indent: number): number => Math.max(20, columns - indent - 1);

/**
 * Redacts secrets of a line. Returns the line unchanged if a redacted part contains shell syntax, because the person
 * must see all text that a shell would act on.
 */
const hideSecrets = (line: string): string => {
  const clean = redact(line);
  if (clean === line) return line;
  const [first = '', ...others] = clean.split('[redacted]');
  const last = others.pop() ?? '';
  const hidden: string[] = [];
  let at = first.length;
  for (const kept of others) {
    const next = line.indexOf(kept, at + 1);
    hidden.push(line.slice(at, next));
    at = next + kept.length;
  }
  hidden.push(line.slice(at, line.length - last.length));
  return hidden.every((piece) => /^[\w+/=.-]+$/.test(piece)) ? clean : line;
};

/** Omitted lines. Not text yet, because a later cut may add to the number. */
interface Gap {
  readonly omitted: number;
}

const isGap = (line: string | Gap): line is Gap => typeof line !== 'string';

const gapText = ({ omitted }: Gap): string => `(${omitted} lines are not shown here)`;

/** Keeps the start and the end, because the dangerous part may have been put at the end. */
const bothEnds = (
  lines: readonly (string | Gap)[],
  maxLines: number,
): readonly (string | Gap)[] => {
  if (lines.length <= maxLines) return lines;
  const [first, last] = [Math.ceil(maxLines / 2), lines.length - Math.floor(maxLines / 2)];
  const omitted = lines
    .slice(first, last)
    .reduce((sum, line) => sum + (isGap(line) ? line.omitted : 1), 0);
  return [...lines.slice(0, first), { omitted }, ...lines.slice(last)];
};

const cutLine = (line: string, maxLength: number): string => {
  const omitted = line.length - maxLength;
  if (omitted <= 0) return line;
  const half = maxLength / 2;
  return `${line.slice(0, half)} (${omitted} characters are not shown here) ${line.slice(-half)}`;
};
