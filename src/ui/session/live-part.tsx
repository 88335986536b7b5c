/** The live part of the session as components, each a few rows; the whole of it is never taller than the terminal. */
import { Box, Text } from 'ink';
import { memo, type ReactNode } from 'react';
import type { Todo } from '../../protocol/agent/todos.js';
import { count } from '../../terminal/text/format-numbers.js';
import { exactText, oneLine, sanitize } from '../../terminal/text/sanitize.js';
import { cut } from '../../terminal/text/text-fit.js';
import type { InboxView } from '../inbox/inbox-lines.js';
import type { Cursor, Size } from '../screen/painter.js';
import type { CompletionMenu } from './completion-menu.js';
import { type LiveState, secondsOf } from './live-state.js';

export interface LivePartState {
  readonly board: LiveState;
  /** Questions, in at most so many rows. */
  readonly inbox: (rows: number) => InboxView;
  /** The keys are for a question. */
  readonly isAnswering: boolean;
  readonly menu: CompletionMenu;
  readonly status: string;
  /** What the lead does now, in the word of its state; undefined while it rests. */
  readonly activity: string | undefined;
  readonly images: readonly string[];
}

/** No terminal is wider than that. */
const LONGEST = 1_000;
const MOST_CALLS = 6;
const MOST_AGENTS = 5;
const MOST_TODOS = 6;
const MOST_QUEUED = 3;
const MOST_SUGGESTIONS = 6;

const Rows = memo(({ lines }: { readonly lines: readonly string[] }) => (
  <>
    {lines.map((line, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a row of the screen is its place.
      <Text key={at} wrap="truncate">
        {line === '' ? ' ' : line}
      </Text>
    ))}
  </>
));

/** What is typed, and below it; while a question is answered it has the room of the prompt too. */
const belowOf = (state: LivePartState, columns: number): readonly (readonly string[])[] => {
  const { board, status, isAnswering } = state;
  const { paint, signs } = board.options;
  const rule = [paint.dim(signs.rule.repeat(columns))];
  if (isAnswering) return [rule, [status]];
  const typed = board.view?.rows ?? [];
  return [rule, typed, imageLines(state, columns), suggestionLines(state, columns), [status]];
};

/** A blank line stands above a question, and a row of the terminal stays free. */
const roomFor = (state: LivePartState, { columns, rows }: Size): number =>
  rows - 1 - belowOf(state, columns).flat().length;

/** In the order of the screen. What is on top gives way where there is little room. */
const partsOf = (state: LivePartState, size: Size): readonly (readonly string[])[] => {
  const { board, inbox } = state;
  const { columns } = size;
  let room = roomFor(state, size);
  const asked = inbox(room).lines;
  const above = [
    board.tail === '' ? [] : [board.shownTail],
    callLines(board, columns),
    agentLines(board, columns),
    todoLines(board, columns),
    queuedLines(board, columns),
    activityLines(state),
    asked.length === 0 || asked.length >= room ? [] : [''],
    asked,
  ];
  const kept = above.toReversed().map((lines) => {
    const shown = lines.slice(0, Math.max(0, room));
    room -= shown.length;
    return shown;
  });
  return [...kept.toReversed(), ...belowOf(state, columns)];
};

export const LivePart = ({
  state,
  size,
}: {
  readonly state: LivePartState;
  readonly size: Size;
}): ReactNode => (
  <Box flexDirection="column" width={size.columns}>
    {partsOf(state, size).map((lines, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts are always the same.
      <Rows key={at} lines={lines} />
    ))}
  </Box>
);

/** Where something is typed: in the prompt, or in the answer to a question. */
export const cursorOf = (state: LivePartState, height: number, size: Size): Cursor | undefined => {
  const { board, isAnswering } = state;
  const below = belowOf(state, size.columns);
  const top = height - below.flat().length;
  if (isAnswering) {
    const { lines, cursor } = state.inbox(roomFor(state, size));
    return cursor && { row: top - lines.length + cursor.row, column: cursor.column };
  }
  return board.view && { row: top + 1 + board.view.row, column: board.view.column };
};

const spinner = ({ options: { signs }, now }: LiveState): string =>
  signs.spinner[Math.floor(now() / 100) % signs.spinner.length] ?? '';

const someOf = (lines: readonly string[], most: number, what: string): readonly string[] =>
  lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `  … ${count(lines.length - most + 1)} more ${what}`];

const callLines = (board: LiveState, columns: number): readonly string[] => {
  const { paint } = board.options;
  const lines = [...board.calls.values()].map(({ label, since, note }) => {
    const time = secondsOf(board.now() - since);
    const more = note === '' ? '' : ` · ${sanitize(note)}`;
    const text = cut(oneLine(`${label}${more}`, LONGEST), columns - time.length - 4);
    return `${paint.accent(spinner(board))} ${text} ${paint.dim(time)}`;
  });
  return someOf(lines, MOST_CALLS, 'calls');
};

const agentLines = (board: LiveState, columns: number): readonly string[] => {
  const { paint, signs } = board.options;
  const lines = board.agents.agents.map(({ name, doing, since, isQueued, isAsking, tag }) => {
    const time = secondsOf(board.now() - since);
    const indent = '  '.repeat(Math.min(4, Math.max(0, tag.depth - 1)));
    const room = columns - time.length - indent.length - 4;
    const text = cut(oneLine(`${name}: ${doing}`, LONGEST), room);
    const sign = isAsking ? paint.warn('?') : isQueued ? signs.todo : paint.accent(spinner(board));
    return `${indent}${sign} ${text} ${paint.dim(time)}`;
  });
  return someOf(lines, MOST_AGENTS, 'agents (Ctrl-S shows all)');
};

const STATUS: Readonly<Record<Todo['status'], 'todo' | 'doing' | 'done'>> = {
  pending: 'todo',
  in_progress: 'doing',
  completed: 'done',
};

/** What is under way and what comes next; nothing when all is done. */
const todoLines = ({ todos, options }: LiveState, columns: number): readonly string[] => {
  const { paint, signs } = options;
  const left = todos.filter(({ status }) => status !== 'completed');
  if (left.length === 0) return [];
  const lines = left.map(({ content, activeForm, status }) => {
    const words = status === 'in_progress' ? (activeForm ?? content) : content;
    const text = cut(`${signs[STATUS[status]]} ${oneLine(sanitize(words), LONGEST)}`, columns - 4);
    return `  ${status === 'in_progress' ? paint.strong(text) : text}`;
  });
  const done = todos.length - left.length;
  const head = `  Things to do: ${done} of ${todos.length} done`;
  return [paint.dim(head), ...someOf(lines, MOST_TODOS, 'to do')];
};

const queuedLines = ({ queued, options }: LiveState, columns: number): readonly string[] => {
  const { paint, signs } = options;
  const lines = queued.map(({ text }) =>
    paint.dim(
      cut(`${signs.queued} waits for its next step: ${oneLine(exactText(text), LONGEST)}`, columns),
    ),
  );
  return someOf(lines, MOST_QUEUED, 'prompts');
};

const activityLines = ({ board, activity }: LivePartState): readonly string[] => {
  if (activity === undefined) return [];
  const { paint } = board.options;
  const time = secondsOf(board.now() - (board.activeSince ?? board.now()));
  return [`${paint.accent(spinner(board))} ${activity} ${paint.dim(`${time} · Esc interrupts`)}`];
};

const imageLines = ({ images, board }: LivePartState, columns: number): readonly string[] => {
  if (images.length === 0) return [];
  return [board.options.paint.dim(cut(`  with ${exactText(images.join(', '))}`, columns))];
};

const suggestionLines = ({ menu, board }: LivePartState, columns: number): readonly string[] => {
  const { paint, signs } = board.options;
  const { suggestions, chosen } = menu;
  const first = Math.max(0, Math.min(chosen - 2, suggestions.length - MOST_SUGGESTIONS));
  return suggestions.slice(first, first + MOST_SUGGESTIONS).map(({ text, detail }, at) => {
    const isChosen = first + at === chosen;
    const line = cut(`${exactText(text.trim()).padEnd(14)} ${detail}`, columns - 3);
    return isChosen ? paint.accent(`${signs.chosen} ${line}`) : paint.dim(`  ${line}`);
  });
};
