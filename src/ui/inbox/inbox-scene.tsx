/** Inbox scene: all open questions on the full screen, as a list above the selected question. */
import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import type { Key } from '../../terminal/input/line-editor.js';
import type { Paint } from '../../terminal/terminal.js';
import { cutText } from '../../terminal/text/fit-text.js';
import { plural } from '../../terminal/text/format-number.js';
import { formatAge } from '../../terminal/text/format-time.js';
import { plainText } from '../../terminal/text/sanitize.js';
import type { Cursor, Size } from '../screen/painter.js';
import type { Scene } from '../screen/screen.js';
import { inboxLines } from './inbox-lines.js';
import type { InboxEntry, QuestionInbox } from './question-inbox.js';

interface InboxSceneOptions {
  readonly inbox: QuestionInbox;
  readonly paint: Paint;
  /** Glyph in front of the chosen line. */
  readonly sign: string;
  /** Outcome of the last answer; '' if there is none. */
  readonly notice: () => string;
  readonly leave: () => void;
}

/** Rows of head, rule and last line. */
const FRAME_ROWS = 3;
const MIN_LISTED = 3;

export class InboxScene implements Scene {
  readonly content: QuestionInbox;
  private readonly options: InboxSceneOptions;
  private cursorAt: Cursor | undefined;

  constructor(options: InboxSceneOptions) {
    this.options = options;
    this.content = options.inbox;
    this.content.focus();
  }

  press(key: Key): void {
    const { inbox, leave } = this.options;
    if (this.isWayOut(key)) {
      inbox.blur();
      leave();
      return;
    }
    if (!inbox.isFocused) inbox.focus();
    inbox.press(key);
  }

  paste(text: string): void {
    this.options.inbox.paste(text);
  }

  cursor(): Cursor | undefined {
    return this.cursorAt;
  }

  draw({ columns, rows }: Size): ReactNode {
    const { inbox, paint, sign, notice } = this.options;
    const now = Date.now();
    const questionRows = rows - FRAME_ROWS - MIN_LISTED;
    const view = inboxLines(inbox, { columns, rows: questionRows, paint, sign, now, howTo: 'Tab' });
    const room = Math.max(MIN_LISTED, rows - FRAME_ROWS - view.lines.length);
    const listed = this.listed(room, columns, now);
    const top = 1 + listed.length + 1;
    this.cursorAt = view.cursor && { row: top + view.cursor.row, column: view.cursor.column };
    const head = `${plural(inbox.entries.length, 'question')} waiting`;
    const lines = [
      paint.strong(head),
      ...listed,
      paint.dim('─'.repeat(columns)),
      ...view.lines.slice(0, Math.max(0, rows - top - 1)),
    ];
    const last = notice() === '' ? this.hint : notice();
    return (
      <Box flexDirection="column" width={columns} height={rows}>
        {lines.map((answerEditor, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is the row of the screen.
          <Text key={at} wrap="truncate">
            {answerEditor === '' ? ' ' : answerEditor}
          </Text>
        ))}
        <Box flexGrow={1} />
        <Text wrap="truncate">{paint.dim(cutText(plainText(last, 400), columns))}</Text>
      </Box>
    );
  }

  /** True for a key that leaves the scene. Letters may be meant for a question that has just gone; Esc never is. */
  private isWayOut({ name, ctrl = false }: Key): boolean {
    const { entries, answerEditor, isQuestionGone } = this.options.inbox;
    if (ctrl && name === 'c') return true;
    if (isQuestionGone) return name === 'escape' && entries.length === 0;
    return answerEditor === undefined && (name === 'escape' || name === 'q' || name === 'i');
  }

  private get hint(): string {
    const { entries, isQuestionGone } = this.options.inbox;
    if (!isQuestionGone) return 'Tab the next · q back';
    return entries.length === 0 ? 'Esc back' : 'Tab the next · Esc the list';
  }

  /** Returns the rows around the shown question. */
  private listed(room: number, columns: number, now: number): readonly string[] {
    const { entries, shown } = this.options.inbox;
    const at = Math.max(
      0,
      entries.findIndex(({ id }) => id === shown?.id),
    );
    const first = Math.max(0, Math.min(at - Math.floor(room / 2), entries.length - room));
    return entries
      .slice(first, first + room)
      .map((entry) => this.row(entry, entry.id === shown?.id, columns, now));
  }

  private row(entry: InboxEntry, isShown: boolean, columns: number, now: number): string {
    const { paint, sign } = this.options;
    const { asker, askedAt, question } = entry;
    const summary =
      'tool' in question ? plainText(question.description, 300) : plainText(question.question, 300);
    const age = formatAge(now - askedAt).padStart(4);
    const answerEditor = cutText(`${isShown ? sign : ' '} ${age}  ${asker}: ${summary}`, columns);
    return isShown ? paint.accent(answerEditor) : answerEditor;
  }
}
