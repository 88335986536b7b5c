/** Formats the input of a call as lines: named values, removed and added lines. */
import { isRecord } from '../../lib/json/is-record.js';
import type {
  PermissionQuestion,
  ReplacedFile,
} from '../../protocol/permission/permission-question.js';
import { plural } from '../text/format-number.js';
import { oneLine } from '../text/sanitize.js';

export type Lines = readonly string[];

/** Returns one group of lines per value and per side of a change. */
export const formatInput = ({
  input,
  tool,
  description,
  replaces,
}: PermissionQuestion): readonly Lines[] => {
  if (!isRecord(input)) return [valueLines('call', description)];
  const { file_path, old_string, new_string, content, edits, ...rest } = input;
  const parts: Lines[] = [];
  if (file_path !== undefined) parts.push(valueLines('file', file_path));
  if (typeof old_string === 'string' && typeof new_string === 'string') {
    parts.push(...change(old_string, new_string));
  } else if (tool === 'Write' && typeof content === 'string') {
    if (replaces !== undefined) parts.push(valueLines('replaces', replacedText(replaces)));
    parts.push(...change(replaces?.text ?? '', content));
  } else if (content !== undefined) parts.push(valueLines('content', content));
  if (Array.isArray(edits)) parts.push(...edits.flatMap(linesOfEdit));
  return [...parts, ...Object.entries(rest).map(([key, value]) => valueLines(key, value))];
};

/** Describes the file that a Write replaces, even if its text cannot be shown. */
const replacedText = ({ bytes, lines, text }: ReplacedFile): string => {
  const size = lines === undefined ? plural(bytes, 'byte') : plural(lines, 'line');
  const more = text === undefined ? ', not shown here' : '';
  return bytes === 0 ? 'an existing file, which is empty' : `${size} of an existing file${more}`;
};

const linesOfEdit = (edit: unknown): readonly Lines[] => {
  const { old_string, new_string, ...rest } = isRecord(edit) ? edit : {};
  if (typeof old_string !== 'string' || typeof new_string !== 'string') {
    return [valueLines('edit', edit)];
  }
  const others = Object.entries(rest).map(([key, value]) => valueLines(key, value));
  return [...change(old_string, new_string), ...others];
};

/** Returns removed and added lines, without the lines that both texts share at their start and end. */
const change = (before: string, after: string): readonly Lines[] => {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let tail = 0;
  const maxTail = Math.min(old.length, fresh.length) - head;
  while (tail < maxTail && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const removed = old.slice(head, old.length - tail).map((line) => `- ${line}`);
  const added = fresh.slice(head, fresh.length - tail).map((line) => `+ ${line}`);
  return [removed, added];
};

const linesOf = (text: string): Lines => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

export const valueLines = (key: string, value: unknown): Lines => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  const [first = '', ...others] = text.split('\n');
  const name = oneLine(key, 60);
  if (others.length === 0) return [`${name}: ${first}`];
  return [`${name}:`, ...[first, ...others].map((line) => `  ${line}`)];
};
