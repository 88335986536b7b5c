/** Live part of the session screen as components. Never taller than the terminal. */
import { Box, Text } from 'ink';
import { memo, type ReactNode } from 'react';
import type { Todo } from '../../protocol/agent/todo.js';
import { cutText } from '../../terminal/text/fit-text.js';
import { formatNumber } from '../../terminal/text/format-number.js';
import { exactText, oneLine, sanitize } from '../../terminal/text/sanitize.js';
import type { InboxView } from '../inbox/inbox-lines.js';
import type { Cursor, Size } from '../screen/painter.js';
import type { CompletionMenu } from './completion-menu.js';
import { formatElapsed, type LiveState } from './live-state.js';

export interface LivePartState {
  readonly live: LiveState;
  /** Returns the questions in at most `rows` rows. */
  readonly inbox: (rows: number) => InboxView;
  /** True if the inbox has the keys. */
  readonly isAnswering: boolean;
  readonly menu: CompletionMenu;
  readonly status: string;
  /** State of the lead; undefined while it is idle. */
  readonly activity: string | undefined;
  readonly images: readonly string[];
}

/** Wider than any terminal. */
const MAX_LINE_LENGTH = 1_000;
const MAX_CALLS = 6;
const MAX_AGENTS = 5;
const MAX_TODOS = 6;
const MAX_QUEUED = 3;
const MAX_SUGGESTIONS = 6;

const Rows = memo(({ lines }: { readonly lines: readonly string[] }) => (
  <>
    {lines.map((line, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the index is the row of the screen.
      <Text key={at} wrap="truncate">
        {line === '' ? ' ' : line}
      </Text>
    ))}
  </>
));

/** Returns the prompt and the parts below it. While a question is answered, the prompt is hidden to make room. */
const belowOf = (state: LivePartState, columns: number): readonly (readonly string[])[] => {
  const { live, status, isAnswering } = state;
  const { paint, glyphs } = live.options;
  const rule = [paint.dim(glyphs.rule.repeat(columns))];
  if (isAnswering) return [rule, [status]];
  const typed = live.view?.rows ?? [];
  return [rule, typed, imageLines(state, columns), suggestionLines(state, columns), [status]];
};

/** Returns the rows above the prompt. One row of the terminal stays free. */
const roomFor = (state: LivePartState, { columns, rows }: Size): number =>
  rows - 1 - belowOf(state, columns).flat().length;

/** Returns the parts from top to bottom. If the rows do not suffice, the upper parts are shortened. */
const partsOf = (state: LivePartState, size: Size): readonly (readonly string[])[] => {
  const { live, inbox } = state;
  const { columns } = size;
  let room = roomFor(state, size);
  const questionLines = inbox(room).lines;
  const above = [
    live.tail === '' ? [] : [live.shownTail],
    callLines(live, columns),
    agentLines(live, columns),
    todoLines(live, columns),
    queuedLines(live, columns),
    activityLines(state),
    questionLines.length === 0 || questionLines.length >= room ? [] : [''],
    questionLines,
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
      // biome-ignore lint/suspicious/noArrayIndexKey: the number of parts is constant.
      <Rows key={at} lines={lines} />
    ))}
  </Box>
);

/** Returns the text cursor in the prompt, or in the answer to a question. */
export const cursorOf = (state: LivePartState, height: number, size: Size): Cursor | undefined => {
  const { live, isAnswering } = state;
  const below = belowOf(state, size.columns);
  const top = height - below.flat().length;
  if (isAnswering) {
    const { lines, cursor } = state.inbox(roomFor(state, size));
    return cursor && { row: top - lines.length + cursor.row, column: cursor.column };
  }
  return live.view && { row: top + 1 + live.view.row, column: live.view.column };
};

const spinner = ({ options: { glyphs }, now }: LiveState): string =>
  glyphs.spinner[Math.floor(now() / 100) % glyphs.spinner.length] ?? '';

const limitLines = (lines: readonly string[], maxLines: number, noun: string): readonly string[] =>
  lines.length <= maxLines
    ? lines
    : [
        ...lines.slice(0, maxLines - 1),
        `  … ${formatNumber(lines.length - maxLines + 1)} more ${noun}`,
      ];

const callLines = (live: LiveState, columns: number): readonly string[] => {
  const { paint } = live.options;
  const lines = [...live.calls.values()].map(({ label, since, note }) => {
    const time = formatElapsed(live.now() - since);
    const more = note === '' ? '' : ` · ${sanitize(note)}`;
    const text = cutText(oneLine(`${label}${more}`, MAX_LINE_LENGTH), columns - time.length - 4);
    return `${paint.accent(spinner(live))} ${text} ${paint.dim(time)}`;
  });
  return limitLines(lines, MAX_CALLS, 'calls');
};

const agentLines = (live: LiveState, columns: number): readonly string[] => {
  const { paint, glyphs } = live.options;
  const lines = live.agents.agents.map(({ name, doing, since, isQueued, isAsking, tag }) => {
    const time = formatElapsed(live.now() - since);
    const indent = '  '.repeat(Math.min(4, Math.max(0, tag.depth - 1)));
    const room = columns - time.length - indent.length - 4;
    const text = cutText(oneLine(`${name}: ${doing}`, MAX_LINE_LENGTH), room);
    const sign = isAsking ? paint.warn('?') : isQueued ? glyphs.todo : paint.accent(spinner(live));
    return `${indent}${sign} ${text} ${paint.dim(time)}`;
  });
  return limitLines(lines, MAX_AGENTS, 'agents (Ctrl-S shows all)');
};

const STATUS: Readonly<Record<Todo['status'], 'todo' | 'doing' | 'done'>> = {
  pending: 'todo',
  in_progress: 'doing',
  completed: 'done',
};

/** Returns the open todos; no lines if all are done. */
const todoLines = ({ todos, options }: LiveState, columns: number): readonly string[] => {
  const { paint, glyphs } = options;
  const left = todos.filter(({ status }) => status !== 'completed');
  if (left.length === 0) return [];
  const lines = left.map(({ content, activeForm, status }) => {
    const label = status === 'in_progress' ? (activeForm ?? content) : content;
    const text = cutText(
      `${glyphs[STATUS[status]]} ${oneLine(sanitize(label), MAX_LINE_LENGTH)}`,
      columns - 4,
    );
    return `  ${status === 'in_progress' ? paint.strong(text) : text}`;
  });
  const done = todos.length - left.length;
  const head = `  Things to do: ${done} of ${todos.length} done`;
  return [paint.dim(head), ...limitLines(lines, MAX_TODOS, 'to do')];
};

const queuedLines = ({ queued, options }: LiveState, columns: number): readonly string[] => {
  const { paint, glyphs } = options;
  const lines = queued.map(({ text }) =>
    paint.dim(
      cutText(
        `${glyphs.queued} waits for the next step: ${oneLine(exactText(text), MAX_LINE_LENGTH)}`,
        columns,
      ),
    ),
  );
  return limitLines(lines, MAX_QUEUED, 'prompts');
};

const activityLines = ({ live, activity }: LivePartState): readonly string[] => {
  if (activity === undefined) return [];
  const { paint } = live.options;
  const time = formatElapsed(live.now() - (live.activeSince ?? live.now()));
  return [`${paint.accent(spinner(live))} ${activity} ${paint.dim(`${time} · Esc interrupts`)}`];
};

const imageLines = ({ images, live }: LivePartState, columns: number): readonly string[] => {
  if (images.length === 0) return [];
  return [live.options.paint.dim(cutText(`  with ${exactText(images.join(', '))}`, columns))];
};

const suggestionLines = ({ menu, live }: LivePartState, columns: number): readonly string[] => {
  const { paint, glyphs } = live.options;
  const { suggestions, chosen } = menu;
  const first = Math.max(0, Math.min(chosen - 2, suggestions.length - MAX_SUGGESTIONS));
  return suggestions.slice(first, first + MAX_SUGGESTIONS).map(({ text, detail }, at) => {
    const isChosen = first + at === chosen;
    const line = cutText(`${exactText(text.trim()).padEnd(14)} ${detail}`, columns - 3);
    return isChosen ? paint.accent(`${glyphs.chosen} ${line}`) : paint.dim(`  ${line}`);
  });
};
