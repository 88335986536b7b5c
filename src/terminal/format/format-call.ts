/** Formats a finished call for people: outcome, remark and a few lines of output. */

import type { Todo } from '../../protocol/agent/todo.js';
import type { RawJson, WireBlock } from '../../protocol/model/wire-block.js';
import type { CallOutcome } from '../../protocol/session/journal-record.js';
import { firstLines, lastLines, oneLine, sanitize, stripEscapes } from '../text/sanitize.js';

interface FinishedCall {
  readonly tool: string;
  readonly outcome: CallOutcome;
  readonly raw: RawJson;
}

export interface CallReport {
  readonly word: 'ok' | 'failed' | 'denied' | 'interrupted';
  /** Text after the word on its line; may be empty. */
  readonly remark: string;
  readonly lines: readonly string[];
}

const MAX_LINE_LENGTH = 160;
const MAX_LINES = 6;
/** Characters of the result that are read: more than the shown lines can need. */
const MAX_READ_LENGTH = 20_000;

export const formatCall = ({ tool, outcome, raw }: FinishedCall): CallReport => {
  const { is_error, content } = JSON.parse(raw) as WireBlock;
  return formatCallResult({
    tool,
    outcome,
    isError: is_error === true,
    text: resultContentText(content),
  });
};

interface CallResult {
  readonly tool: string;
  readonly outcome: CallOutcome;
  /** True if the result was marked as an error for the model. */
  readonly isError: boolean;
  readonly text: string;
}

export const formatCallResult = ({ tool, outcome, isError, text }: CallResult): CallReport => {
  const word = wordFor(outcome, isError);
  if (word === 'denied') return { word, remark: oneLine(sanitize(text), 300), lines: [] };
  if (word === 'interrupted') return { word, remark: '', lines: printedBefore(tool, text) };
  const { remark = '', lines = [] } = DIGESTS[tool]?.(text, word) ?? plainDigest(text, word);
  return { word, remark, lines: lines.map(cleanLine) };
};

/** Returns the output of an interrupted command, without the text that is meant for the model. */
const printedBefore = (tool: string, text: string): readonly string[] => {
  if (tool !== 'Bash') return [];
  const lines = text.trimEnd().split('\n').slice(1);
  const printed = lines
    .filter((line) => line !== '[Interrupted before it ended.]')
    .join('\n')
    .trim();
  return printed === '' ? [] : lastLines(printed, 3).map(cleanLine);
};

const wordFor = (outcome: CallOutcome, isError: boolean): CallReport['word'] => {
  if (outcome === 'denied' || outcome === 'interrupted') return outcome;
  return outcome === 'ok' && !isError ? 'ok' : 'failed';
};

const cleanLine = (line: string): string =>
  oneLine(stripEscapes(line.slice(0, 4_000)), MAX_LINE_LENGTH);

/** Returns the text of a result's content. Other blocks appear as their type. */
export const resultContentText = (content: unknown): string => {
  if (typeof content === 'string') return content;
  const blocks = (content ?? []) as readonly WireBlock[];
  return blocks
    .map((block) => (block.type === 'text' ? String(block.text) : `(${block.type})`))
    .join('\n');
};

interface Digest {
  readonly remark?: string;
  readonly lines?: readonly string[];
}
type Digester = (text: string, word: CallReport['word']) => Digest;

const countText = (text: string, singular: string, pluralForm: string): string => {
  const count = text.trim() === '' ? 0 : text.trimEnd().split('\n').length;
  return `${count} ${count === 1 ? singular : pluralForm}`;
};

const plainDigest: Digester = (text, word) => {
  const trimmed = text.slice(0, MAX_READ_LENGTH).trim();
  if (word !== 'ok') return { lines: firstLines(trimmed, MAX_LINES) };
  const [first = ''] = trimmed.split('\n', 1);
  return { remark: cleanLine(first.replace(/ It now reads:$/, '')) };
};

const outputDigest: Digester = (text) => ({ lines: lastLines(text.trimEnd(), MAX_LINES) });

/** Counts the lines of the result: the lines themselves are for the model. */
const countDigest =
  (singular: string, pluralForm: string): Digester =>
  (text, word) =>
    word === 'ok' ? { remark: countText(text, singular, pluralForm) } : plainDigest(text, word);

/** Digest of a Bash call. The text behind the id of a background command is for the model. */
const commandDigest: Digester = (text, word) => {
  const [started] = /^Started in the background as \w+\./.exec(text) ?? [];
  return started === undefined || text.includes('\n')
    ? outputDigest(text, word)
    : { remark: started };
};

/** Digest of a task: its status and its last output; for an agent only its status. */
const taskDigest: Digester = (text, word) => {
  if (word !== 'ok' || text.startsWith('Agent ')) return plainDigest(text, word);
  const status = text.indexOf('\n\n');
  return {
    ...plainDigest(text.slice(0, status), word),
    ...outputDigest(text.slice(status + 2), word),
  };
};

/** Digest of web results, without the tags that mark untrusted text for the model. */
const webDigest: Digester = (text, word) => {
  if (word !== 'ok') return plainDigest(text, word);
  const plain = text
    .slice(0, MAX_READ_LENGTH)
    .replaceAll(UNTRUSTED_TAGS, '')
    .replaceAll(/\n{2,}/g, '\n');
  return { lines: firstLines(plain.trim(), MAX_LINES) };
};

const UNTRUSTED_TAGS = /^<untrusted\b.*>\n(?:This is data from outside\b.*\n)?|^<\/untrusted>$/gm;

const DIGESTS: Readonly<Record<string, Digester>> = {
  Bash: commandDigest,
  TaskOutput: taskDigest,
  TaskStop: taskDigest,
  WebSearch: webDigest,
  Read: countDigest('line', 'lines'),
  Grep: countDigest('line', 'lines'),
  Glob: countDigest('line', 'lines'),
  LS: countDigest('line', 'lines'),
  TodoWrite: (text, word) => (word === 'ok' ? {} : plainDigest(text, word)),
};

const STATUS: Readonly<Record<Todo['status'], string>> = {
  pending: 'to do',
  in_progress: 'doing',
  completed: 'done',
};

const MAX_TODOS = 20;

export const formatTodos = (todos: readonly Todo[]): readonly string[] => {
  if (todos.length === 0) return ['Things to do: none'];
  const lines = todos.map(({ content, status }) => {
    return `${`${STATUS[status]}:`.padEnd(7)}${oneLine(sanitize(content), MAX_LINE_LENGTH)}`;
  });
  const left = todos.filter(({ status }) => status !== 'completed').length;
  const head = `Things to do: ${left} of ${todos.length} left`;
  return [head, ...firstLines(lines.join('\n'), MAX_TODOS)];
};
