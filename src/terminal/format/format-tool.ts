/** What a person sees of a finished call: how it went, and a few telling lines. */

import type { Todo } from '../../protocol/agent/todos.js';
import type { RawJson, WireBlock } from '../../protocol/model/wire.js';
import type { CallOutcome } from '../../protocol/session/journal.js';
import { firstLines, lastLines, oneLine, sanitize, uncoloured } from '../text/sanitize.js';

export interface EndedCall {
  readonly tool: string;
  readonly outcome: CallOutcome;
  readonly raw: RawJson;
}

export interface CallReport {
  readonly word: 'ok' | 'failed' | 'denied' | 'interrupted';
  /** Follows the word on its line; may be empty. */
  readonly remark: string;
  readonly lines: readonly string[];
}

const LONGEST_LINE = 160;
const MOST_LINES = 6;
/** More than the lines that are shown can need. */
const ENOUGH = 20_000;

export const reportCall = ({ tool, outcome, raw }: EndedCall): CallReport => {
  const { is_error, content } = JSON.parse(raw) as WireBlock;
  return reportResult({ tool, outcome, isError: is_error === true, text: textIn(content) });
};

export interface CallResult {
  readonly tool: string;
  readonly outcome: CallOutcome;
  /** The model was told that it is no result. */
  readonly isError: boolean;
  readonly text: string;
}

export const reportResult = ({ tool, outcome, isError, text }: CallResult): CallReport => {
  const word = wordFor(outcome, isError);
  if (word === 'denied') return { word, remark: oneLine(sanitize(text), 300), lines: [] };
  if (word === 'interrupted') return { word, remark: '', lines: printedBefore(tool, text) };
  const { remark = '', lines = [] } = DIGESTS[tool]?.(text, word) ?? digest(text, word);
  return { word, remark, lines: lines.map(shown) };
};

/** What a command had printed. The rest says no more than the word, or is advice to the model. */
const printedBefore = (tool: string, text: string): readonly string[] => {
  if (tool !== 'Bash') return [];
  const lines = text.trimEnd().split('\n').slice(1);
  const printed = lines
    .filter((line) => line !== '[Interrupted before it ended.]')
    .join('\n')
    .trim();
  return printed === '' ? [] : lastLines(printed, 3).map(shown);
};

const wordFor = (outcome: CallOutcome, isError: boolean): CallReport['word'] => {
  if (outcome === 'denied' || outcome === 'interrupted') return outcome;
  return outcome === 'ok' && !isError ? 'ok' : 'failed';
};

const shown = (line: string): string => oneLine(uncoloured(line.slice(0, 4_000)), LONGEST_LINE);

const textIn = (content: unknown): string => {
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

const counted = (what: string, one: string, many: string): string => {
  const count = what.trim() === '' ? 0 : what.trimEnd().split('\n').length;
  return `${count} ${count === 1 ? one : many}`;
};

const digest: Digester = (text, word) => {
  const trimmed = text.slice(0, ENOUGH).trim();
  if (word !== 'ok') return { lines: firstLines(trimmed, MOST_LINES) };
  const [first = ''] = trimmed.split('\n', 1);
  return { remark: shown(first.replace(/ It now reads:$/, '')) };
};

const output: Digester = (text) => ({ lines: lastLines(text.trimEnd(), MOST_LINES) });

/** What was found is for the model; how much there was is for people. */
const tally =
  (one: string, many: string): Digester =>
  (text, word) =>
    word === 'ok' ? { remark: counted(text, one, many) } : digest(text, word);

/** What follows the id is for the model. */
const command: Digester = (text, word) => {
  const [started] = /^Started in the background as \w+\./.exec(text) ?? [];
  return started === undefined || text.includes('\n') ? output(text, word) : { remark: started };
};

/** How the task is doing, then what it printed last; of an agent, how it is doing. */
const task: Digester = (text, word) => {
  if (word !== 'ok' || text.startsWith('Agent ')) return digest(text, word);
  const status = text.indexOf('\n\n');
  return { ...digest(text.slice(0, status), word), ...output(text.slice(status + 2), word) };
};

/** What strangers wrote, without the marks that tell the model so. */
const found: Digester = (text, word) => {
  if (word !== 'ok') return digest(text, word);
  const plain = text
    .slice(0, ENOUGH)
    .replaceAll(MARKS, '')
    .replaceAll(/\n{2,}/g, '\n');
  return { lines: firstLines(plain.trim(), MOST_LINES) };
};

const MARKS = /^<untrusted\b.*>\n(?:This is data from outside\b.*\n)?|^<\/untrusted>$/gm;

const DIGESTS: Readonly<Record<string, Digester>> = {
  Bash: command,
  TaskOutput: task,
  TaskStop: task,
  WebSearch: found,
  Read: tally('line', 'lines'),
  Grep: tally('line', 'lines'),
  Glob: tally('line', 'lines'),
  LS: tally('line', 'lines'),
  TodoWrite: (text, word) => (word === 'ok' ? {} : digest(text, word)),
};

const STATUS: Readonly<Record<Todo['status'], string>> = {
  pending: 'to do',
  in_progress: 'doing',
  completed: 'done',
};

const MOST_TODOS_SHOWN = 20;

export const todoLines = (todos: readonly Todo[]): readonly string[] => {
  if (todos.length === 0) return ['Things to do: none'];
  const lines = todos.map(({ content, status }) => {
    return `${`${STATUS[status]}:`.padEnd(7)}${oneLine(sanitize(content), LONGEST_LINE)}`;
  });
  const left = todos.filter(({ status }) => status !== 'completed').length;
  const head = `Things to do: ${left} of ${todos.length} left`;
  return [head, ...firstLines(lines.join('\n'), MOST_TODOS_SHOWN)];
};
