/**
 * A permission question in words: who asks, for what, with which input, why it is asked, how much it
 * can spoil, and what each answer allows.
 *
 * What comes from the model stands behind a gutter, in every row of the screen, so that it cannot
 * pose as anything else here. A long input is shown by both of its ends, so that the question fits
 * on a screen: what scrolls away was not read. That something is left out is said.
 */
import { redact } from '../../policy/redaction/redaction.js';
import type { PermissionQuestion, Risk } from '../../protocol/permission/permission.js';
import { exactText, oneLine } from '../text/sanitize.js';
import { cut, folded } from '../text/text-fit.js';
import { inputParts, type Lines, valueLines } from './format-input.js';

/** Of one value, or of one side of a change. */
const MOST_LINES = 12;
/** Of the whole input, as the screen breaks it. */
const MOST_ROWS = 12;
/** Of the input, before the remarks below it are cut to a row each. */
const LEAST_ROWS = 3;
const LONGEST_LINE = 600;
const LONGEST_REMARK = 200;

export interface QuestionView {
  /** How people call the agent that asks. */
  readonly asker: string;
  /** Whom it works for, and on what. */
  readonly purpose?: string;
  readonly columns: number;
  /** As many as there may be without the answers; left out where there may be any. */
  readonly rows?: number;
}

export const questionLines = (
  question: PermissionQuestion,
  view: QuestionView,
): readonly string[] => [
  ...questionFacts(question, view, 'v shows it'),
  ...answersOf(question).flatMap((line) => answerRows(line, view.columns)),
];

/** What a person can say to it: a line for each answer, its key first. */
export const answersOf = ({
  grant,
  isAlwaysAsked = false,
}: Pick<PermissionQuestion, 'grant' | 'isAlwaysAsked'>): readonly string[] => {
  if (grant === undefined) return ONCE_ONLY;
  return isAlwaysAsked ? ASKED_AGAIN : ANSWERS;
};

/**
 * Without the answers; `howToSee` is what a person can do to see what is left out. Where there is little room the input
 * gives way, and then what weighs less: nobody is to answer without having seen the risk, and that not all is shown.
 */
export const questionFacts = (
  question: PermissionQuestion,
  view: QuestionView,
  howToSee: string,
): readonly string[] => {
  const { columns, rows = Number.POSITIVE_INFINITY } = view;
  const parts = inputParts(question);
  const shown = (line: string) => hideSecrets(cutLine(line, LONGEST_LINE));
  const input = parts
    .flatMap((part) => bothEnds(part, MOST_LINES))
    .flatMap<string | Gap>((line) => (isGap(line) ? [line] : guttered([shown(line)], columns)));
  const isWhole =
    input.length <= MOST_ROWS &&
    !input.some(isGap) &&
    parts.flat().every((line) => line === shown(line));
  const warning = [cut(`  Not all of it is shown: ${howToSee}, and deny if in doubt.`, columns)];
  const facts = { ...remarksOf(question, view), warning: isWhole ? [] : warning };
  const all = inOrder(facts, gapless(bothEnds(input, MOST_ROWS), columns));
  if (all.length <= rows) return all;
  const least = Math.min(input.length, LEAST_ROWS);
  const isTight = Object.values({ ...facts, warning }).flat().length + least > rows;
  const kept = weighed({ ...(isTight ? shortened(facts, columns) : facts), warning }, rows);
  const room = Math.min(MOST_ROWS, rows - Object.values(kept).flat().length);
  const some = gapless(bothEnds(input, Math.max(1, room - 1)), columns).slice(0, room);
  return inOrder(kept, some);
};

/** All but the input. */
type Facts = Readonly<Record<(typeof BY_WEIGHT)[number], Lines>>;

/** What stays longest first. */
const BY_WEIGHT = ['risk', 'warning', 'head', 'rule', 'reason', 'place', 'purpose'] as const;

const remarksOf = (
  { tool, reason, risk, blockedPath, grant }: PermissionQuestion,
  { asker, purpose, columns }: QuestionView,
): Omit<Facts, 'warning'> => {
  const remark = (name: string, text: string | undefined) =>
    text === undefined ? [] : remarkRows(name, text, columns);
  return {
    head: [`${asker} asks to use ${oneLine(exactText(tool))}.`],
    purpose: purpose === undefined ? [] : purposeRows(purpose, columns),
    risk: remark('risk', RISKS[risk]),
    place: remark('place', blockedPath),
    reason: remark('reason', reason),
    rule: remark('rule', grant),
  };
};

const inOrder = (facts: Facts, input: Lines): Lines => {
  const { head, purpose, warning, risk, place, reason, rule } = facts;
  return [...head, ...purpose, ...input, ...warning, ...risk, ...place, ...reason, ...rule];
};

/** One row of each. */
const shortened = (facts: Facts, columns: number): Facts =>
  mapped(facts, ([first, ...others]) => {
    if (first === undefined) return [];
    return [others.length === 0 ? first : cut(`${first}…`, columns)];
  });

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

/** For whom an agent that works for another asks. */
export const purposeRows = (purpose: string, columns: number): readonly string[] =>
  remarkRows('for', purpose, columns);

/** Why it is asked, everything that the call was given and what a lasting answer would allow, however long it is. */
export const wholeInput = (question: PermissionQuestion, columns: number): readonly string[] => {
  const { grant, risk, blockedPath, reason } = question;
  const rule = grant === undefined ? [] : valueLines('rule', grant);
  return [
    ...remarkRows('risk', RISKS[risk], columns),
    ...(blockedPath === undefined ? [] : guttered(valueLines('place', blockedPath), columns)),
    ...(reason === '' ? [] : guttered(valueLines('reason', reason), columns)),
    ...guttered([...inputParts(question).flat(), ...rule], columns),
  ];
};

const RISKS: Readonly<Record<Risk, string>> = {
  low: 'low, it changes nothing',
  medium: 'medium, it changes the workspace',
  high: 'high, it may leave the workspace, open secrets or be hard to undo',
};

const ANSWERS = [
  'o  once: this call and no other',
  's  session: whatever the rule allows, until the session ends',
  'p  project: the same from now on, kept in .skein/settings.local.json',
  'd  deny: it is not run, and you may say why',
];

/** No rule of the settings is heard where a person must look. */
const ASKED_AGAIN = ANSWERS.map((line) =>
  line.startsWith('p')
    ? 'p  project: the same; other sessions ask again, whatever rules say'
    : line,
);

const ONCE_ONLY = [
  'o  once: this call and no other; such calls are asked about each time',
  'd  deny: it is not run, and you may say why',
];

/** What the model is told of a no. */
export const denialOf = (reason: string): string =>
  reason === '' ? DENIED : `${DENIED} Reason: ${reason}`;

const DENIED = 'The user denied this call.';

const GUTTER = '  | ';
const GOES_ON = '  … ';

const guttered = (lines: Lines, columns: number): Lines =>
  lines.flatMap((line) =>
    folded(exactText(line).replaceAll('\t', '  '), widthWithin(columns, GUTTER.length)).map(
      (piece, at) => `${at === 0 ? GUTTER : GOES_ON}${piece.trimEnd()}`,
    ),
  );

/** A sentence of ours that may quote the model: it goes on behind the gutter. */
const remarkRows = (name: string, text: string, columns: number): Lines => {
  const line = cutLine(hideSecrets(text.replaceAll(/\s+/g, ' ').trim()), LONGEST_REMARK);
  return folded(`${name}: ${exactText(line)}`, widthWithin(columns, GUTTER.length)).map(
    (piece, at) => `${at === 0 ? '  ' : GOES_ON}${piece.trimEnd()}`,
  );
};

const answerRows = (line: string, columns: number): Lines =>
  folded(line, widthWithin(columns, 5)).map(
    (piece, at) => `${at === 0 ? '  ' : '     '}${piece.trimEnd()}`,
  );

const widthWithin = (columns: number, indent: number): number => Math.max(20, columns - indent - 1);

/**
 * Secrets need not be read off a screen. But nothing that a shell would act on is hidden from the
 * person who decides about it: then the line is shown as it is.
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

/** Where lines were left out. It is no text until the last cut is made: a later one adds to it. */
interface Gap {
  readonly left: number;
}

const isGap = (line: string | Gap): line is Gap => typeof line !== 'string';

const gapText = ({ left }: Gap): string => `(${left} lines are not shown here)`;

/** The end is shown too: what matters may have been put there. */
const bothEnds = (lines: readonly (string | Gap)[], most: number): readonly (string | Gap)[] => {
  if (lines.length <= most) return lines;
  const [first, last] = [Math.ceil(most / 2), lines.length - Math.floor(most / 2)];
  const left = lines
    .slice(first, last)
    .reduce((sum, line) => sum + (isGap(line) ? line.left : 1), 0);
  return [...lines.slice(0, first), { left }, ...lines.slice(last)];
};

const cutLine = (line: string, longest: number): string => {
  const left = line.length - longest;
  if (left <= 0) return line;
  const half = longest / 2;
  return `${line.slice(0, half)} (${left} characters are not shown here) ${line.slice(-half)}`;
};
