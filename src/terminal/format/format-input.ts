/** What a call was given, in lines: its values by their names, and changes of files as what goes and what comes. */
import type { PermissionQuestion, ReplacedFile } from '../../protocol/permission/permission.js';
import { plural } from '../text/format-numbers.js';
import { oneLine } from '../text/sanitize.js';

export type Lines = readonly string[];

/** Each value, and each side of a change, by itself. */
export const inputParts = ({
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
  if (Array.isArray(edits)) parts.push(...edits.flatMap(oneEdit));
  return [...parts, ...Object.entries(rest).map(([key, value]) => valueLines(key, value))];
};

/** What is lost is said also where it cannot be shown. */
const replacedText = ({ bytes, lines, text }: ReplacedFile): string => {
  const size = lines === undefined ? plural(bytes, 'byte') : plural(lines, 'line');
  const more = text === undefined ? ', not shown here' : '';
  return bytes === 0 ? 'an existing file, which is empty' : `${size} of an existing file${more}`;
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

export const valueLines = (key: string, value: unknown): Lines => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  const [first = '', ...others] = text.split('\n');
  const name = oneLine(key, 60);
  if (others.length === 0) return [`${name}: ${first}`];
  return [`${name}:`, ...[first, ...others].map((line) => `  ${line}`)];
};
