/** A permission question in words: who asks, for what, with which input, and why it is asked. */
import type { PermissionQuestion } from '../protocol/permission.js';
import { exactText, oneLine } from './harmless-text.js';

const MOST_LINES = 20;
const LONGEST_LINE = 300;
/** The end of a long value is shown too: what matters may have been put there. */
const LONGEST_VALUE = 4_000;

export const questionLines = (question: PermissionQuestion, asker: string): readonly string[] => [
  `${asker} asks to use ${exactText(question.tool)}.`,
  ...inputLines(question).map((line) => `  ${line}`),
  `  reason: ${oneLine(exactText(question.reason), LONGEST_LINE)}`,
  ...(question.grant === undefined ? [] : [`  s and p allow: ${grantLine(question.grant)}`]),
];

const grantLine = (grant: string): string => oneLine(exactText(grant), LONGEST_LINE);

const inputLines = ({ tool, input, description }: PermissionQuestion): readonly string[] => {
  if (!isRecord(input)) return [`call: ${oneLine(exactText(description), LONGEST_LINE)}`];
  const { file_path, old_string, new_string, content, edits, ...rest } = input;
  const lines: string[] = [];
  if (file_path !== undefined) lines.push(...valueLines('file', file_path));
  if (typeof old_string === 'string' && typeof new_string === 'string') {
    lines.push(...change(old_string, new_string));
  } else if (tool === 'Write' && typeof content === 'string') {
    lines.push(...change('', content));
  } else if (content !== undefined) lines.push(...valueLines('content', content));
  if (Array.isArray(edits)) lines.push(...edits.slice(0, 10).flatMap(oneEdit));
  if (Array.isArray(edits) && edits.length > 10) lines.push(`(${edits.length - 10} more edits)`);
  return [...lines, ...Object.entries(rest).flatMap(([key, value]) => valueLines(key, value))];
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const oneEdit = (edit: unknown): readonly string[] => {
  const { old_string, new_string } = isRecord(edit) ? edit : {};
  if (typeof old_string === 'string' && typeof new_string === 'string') {
    return change(old_string, new_string);
  }
  return valueLines('edit', edit);
};

/** What goes and what comes; lines that both have at either end are left out. */
const change = (before: string, after: string): readonly string[] => {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - head;
  while (tail < most && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const gone = old.slice(head, old.length - tail).map((line) => `- ${line}`);
  const come = fresh.slice(head, fresh.length - tail).map((line) => `+ ${line}`);
  return [...bounded(gone), ...bounded(come)];
};

const linesOf = (text: string): readonly string[] =>
  text === '' ? [] : text.replace(/\n$/, '').split('\n');

const bounded = (lines: readonly string[]): readonly string[] => {
  const shown = lines.slice(0, MOST_LINES).map((line) => exactText(cutLine(line)));
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, `(${left} more lines)`] : shown;
};

const cutLine = (line: string): string =>
  line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE)} (${line.length} characters)`;

const valueLines = (key: string, value: unknown): readonly string[] => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  const [first = '', ...others] = exactText(middleOut(text)).split('\n');
  const name = oneLine(exactText(key), 60);
  if (others.length === 0) return [`${name}: ${first}`];
  return [`${name}:`, ...[first, ...others].map((line) => `  ${line}`)];
};

const middleOut = (text: string): string => {
  const left = text.length - LONGEST_VALUE;
  if (left <= 0) return text;
  const half = LONGEST_VALUE / 2;
  const gap = `\n(${left} characters are not shown here; deny if in doubt)\n`;
  return text.slice(0, half) + gap + text.slice(-half);
};
