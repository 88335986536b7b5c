/** All open questions on the whole screen: a list of them, and the one whose answer is chosen. */
import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import type { Key } from '../../terminal/input/line-editor.js';
import type { Paint } from '../../terminal/terminal.js';
import { plural } from '../../terminal/text/format-numbers.js';
import { shortAge } from '../../terminal/text/format-time.js';
import { plainText } from '../../terminal/text/sanitize.js';
import { cut } from '../../terminal/text/text-fit.js';
import type { Cursor, Size } from '../screen/painter.js';
import type { Scene } from '../screen/screen.js';
import type { Inbox, InboxEntry } from './inbox.js';
import { inboxLines } from './inbox-lines.js';

export interface InboxSceneOptions {
  readonly inbox: Inbox;
  readonly paint: Paint;
  /** In front of what is chosen. */
  readonly sign: string;
  /** What came of the last answer; empty when there is nothing to say. */
  readonly said: () => string;
  readonly leave: () => void;
}

/** Head, rule, last line. */
const AROUND = 3;
const LEAST_LISTED = 3;

export class InboxScene implements Scene {
  readonly shown: Inbox;
  private readonly options: InboxSceneOptions;
  private cursorAt: Cursor | undefined;

  constructor(options: InboxSceneOptions) {
    this.options = options;
    this.shown = options.inbox;
    this.shown.turnTo();
  }

  press(key: Key): void {
    const { inbox, leave } = this.options;
    if (this.isWayOut(key)) {
      inbox.turnAway();
      leave();
      return;
    }
    if (!inbox.isTurnedTo) inbox.turnTo();
    inbox.press(key);
  }

  paste(text: string): void {
    this.options.inbox.paste(text);
  }

  cursor(): Cursor | undefined {
    return this.cursorAt;
  }

  draw({ columns, rows }: Size): ReactNode {
    const { inbox, paint, sign, said } = this.options;
    const now = Date.now();
    const asked = rows - AROUND - LEAST_LISTED;
    const view = inboxLines(inbox, { columns, rows: asked, paint, sign, now, howTo: 'Tab' });
    const room = Math.max(LEAST_LISTED, rows - AROUND - view.lines.length);
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
    const last = said() === '' ? this.hint : said();
    return (
      <Box flexDirection="column" width={columns} height={rows}>
        {lines.map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row of the screen is its place.
          <Text key={at} wrap="truncate">
            {line === '' ? ' ' : line}
          </Text>
        ))}
        <Box flexGrow={1} />
        <Text wrap="truncate">{paint.dim(cut(plainText(last, 400), columns))}</Text>
      </Box>
    );
  }

  /** Letters may still be meant for a question that has gone; Esc never is. */
  private isWayOut({ name, ctrl = false }: Key): boolean {
    const { entries, line, isLost } = this.options.inbox;
    if (ctrl && name === 'c') return true;
    if (isLost) return name === 'escape' && entries.length === 0;
    return line === undefined && (name === 'escape' || name === 'q' || name === 'i');
  }

  /** What works now. */
  private get hint(): string {
    const { entries, isLost } = this.options.inbox;
    if (!isLost) return 'Tab the next · q back';
    return entries.length === 0 ? 'Esc back' : 'Tab the next · Esc the list';
  }

  /** Those around the one that is shown. */
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
    const what =
      'tool' in question ? plainText(question.description, 300) : plainText(question.question, 300);
    const age = shortAge(now - askedAt).padStart(4);
    const line = cut(`${isShown ? sign : ' '} ${age}  ${asker}: ${what}`, columns);
    return isShown ? paint.accent(line) : line;
  }
}
