/**
 * A permission question in words: who asks, for what, with which input, why it is asked, how much it
 * can spoil, and what each answer allows.
 *
 * What comes from the model stands behind a gutter, in every row of the screen, so that it cannot
 * pose as anything else here. A long input is shown by both of its ends, so that the question fits
 * on a screen: what scrolls away was not read. That something is left out is said.
 */
import { redact } from '../policy/redaction.js';
import type { PermissionQuestion, Risk } from '../protocol/permission.js';
import { exactText, oneLine } from './harmless-text.js';
import { folded } from './text-fit.js';

/** Of one value, or of one side of a change. */
const MOST_LINES = 12;
/** Of the whole input, as the screen breaks it. */
const MOST_ROWS = 12;
const LONGEST_LINE = 600;
const LONGEST_REMARK = 200;

export interface QuestionView {
  /** How people call the agent that asks. */
  readonly asker: string;
  /** Whom it works for, and on what. */
  readonly purpose?: string;
  readonly columns: number;
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

/** Without the answers; `howToSee` is what a person can do to see what is left out. */
export const questionFacts = (
  question: PermissionQuestion,
  { asker, purpose, columns }: QuestionView,
  howToSee: string,
): readonly string[] => {
  const { tool, reason, risk, blockedPath, grant } = question;
  const parts = inputParts(question);
  const shown = (line: string) => hideSecrets(cutLine(line, LONGEST_LINE));
  const rows = bothEnds(
    parts
      .flatMap((part) => bothEnds(part, MOST_LINES))
      .flatMap<string | Gap>((line) => (isGap(line) ? [line] : guttered([shown(line)], columns))),
    MOST_ROWS,
  );
  const isWhole = !rows.some(isGap) && parts.flat().every((line) => line === shown(line));
  const remark = (name: string, text: string | undefined) =>
    text === undefined ? [] : remarkRows(name, text, columns);
  return [
    `${asker} asks to use ${oneLine(exactText(tool))}.`,
    ...(purpose === undefined ? [] : purposeRows(purpose, columns)),
    ...rows.flatMap((row) => (isGap(row) ? guttered([gapText(row)], columns) : [row])),
    ...(isWhole ? [] : [`  Not all of it is shown: ${howToSee}, and deny if in doubt.`]),
    ...remark('risk', RISKS[risk]),
    ...remark('place', blockedPath),
    ...remark('reason', reason),
    ...remark('rule', grant),
  ];
};

/** For whom an agent that works for another asks. */
export const purposeRows = (purpose: string, columns: number): readonly string[] =>
  remarkRows('for', purpose, columns);

/** Everything that the call was given and that a lasting answer would allow, however long it is. */
export const wholeInput = (question: PermissionQuestion, columns: number): readonly string[] => {
  const { grant } = question;
  const rule = grant === undefined ? [] : valueLines('rule', grant);
  return guttered([...inputParts(question).flat(), ...rule], columns);
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

type Lines = readonly string[];

const inputParts = ({ input, tool, description }: PermissionQuestion): readonly Lines[] => {
  if (!isRecord(input)) return [valueLines('call', description)];
  const { file_path, old_string, new_string, content, edits, ...rest } = input;
  const parts: Lines[] = [];
  if (file_path !== undefined) parts.push(valueLines('file', file_path));
  if (typeof old_string === 'string' && typeof new_string === 'string') {
    parts.push(...change(old_string, new_string));
  } else if (tool === 'Write' && typeof content === 'string') parts.push(...change('', content));
  else if (content !== undefined) parts.push(valueLines('content', content));
  if (Array.isArray(edits)) parts.push(...edits.flatMap(oneEdit));
  return [...parts, ...Object.entries(rest).map(([key, value]) => valueLines(key, value))];
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const oneEdit = (edit: unknown): readonly Lines[] => {
  const { old_string, new_string, ...rest } = isRecord(edit) ? edit : {};
  if (typeof old_string !== 'string' || typeof new_string !== 'string') {
    return [valueLines('edit', edit)];
  }
  const others = Object.entries(rest).map(([key, value]) => valueLines(key, value));
  return [...change(old_string, new_string), ...others];
};

/** What goes and what comes; lines that both have at either end are left out. */
const change = (before: string, after: string): readonly Lines[] => {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - head;
  while (tail < most && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const gone = old.slice(head, old.length - tail).map((line) => `- ${line}`);
  const come = fresh.slice(head, fresh.length - tail).map((line) => `+ ${line}`);
  return [gone, come];
};

const linesOf = (text: string): Lines => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const valueLines = (key: string, value: unknown): Lines => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  const [first = '', ...others] = text.split('\n');
  const name = oneLine(key, 60);
  if (others.length === 0) return [`${name}: ${first}`];
  return [`${name}:`, ...[first, ...others].map((line) => `  ${line}`)];
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
  const half = most / 2;
  const left = lines
    .slice(half, -half)
    .reduce((sum, line) => sum + (isGap(line) ? line.left : 1), 0);
  return [...lines.slice(0, half), { left }, ...lines.slice(-half)];
};

const cutLine = (line: string, longest: number): string => {
  const left = line.length - longest;
  if (left <= 0) return line;
  const half = longest / 2;
  return `${line.slice(0, half)} (${left} characters are not shown here) ${line.slice(-half)}`;
};
