/**
 * A permission question in words: who asks, for what, with which input, and why it is asked.
 *
 * A long input is shown by both of its ends, so that it fits on a screen: what scrolls away was not
 * read. That something is left out is said last, right above the answer.
 */
import type { PermissionQuestion } from '../protocol/permission.js';
import { exactText, oneLine } from './harmless-text.js';

/** Of one value, or of one side of a change. */
const MOST_LINES = 12;
const MOST_LINES_IN_ALL = 24;
const LONGEST_LINE = 600;
const LONGEST_REMARK = 300;

export const questionLines = (question: PermissionQuestion, asker: string): readonly string[] => {
  const parts = inputParts(question);
  const ends = parts.flatMap((part) => bothEnds(part, MOST_LINES));
  const lines = bothEnds(ends, MOST_LINES_IN_ALL).map(cutLine);
  const isWhole = parts.flat().every((line, at) => line === lines[at]);
  return [
    `${asker} asks to use ${exactText(question.tool)}.`,
    ...lines.map((line) => `  ${exactText(line)}`),
    `  reason: ${oneLine(exactText(question.reason), LONGEST_REMARK)}`,
    ...(question.grant === undefined ? [] : [`  s and p allow: ${grantLine(question.grant)}`]),
    ...(isWhole ? [] : ['  Not all of it is shown: v shows it, and deny if in doubt.']),
  ];
};

/** Everything that the call was given, however long it is. */
export const wholeInput = (question: PermissionQuestion): readonly string[] =>
  inputParts(question).flatMap((part) => part.map((line) => `  ${exactText(line)}`));

const grantLine = (grant: string): string => oneLine(exactText(grant), LONGEST_REMARK);

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

/** The end is shown too: what matters may have been put there. */
const bothEnds = (lines: Lines, most: number): Lines => {
  if (lines.length <= most) return lines;
  const half = most / 2;
  const gap = `(${lines.length - most} lines are not shown here)`;
  return [...lines.slice(0, half), gap, ...lines.slice(-half)];
};

const cutLine = (line: string): string => {
  const left = line.length - LONGEST_LINE;
  if (left <= 0) return line;
  const half = LONGEST_LINE / 2;
  return `${line.slice(0, half)} (${left} characters are not shown here) ${line.slice(-half)}`;
};
