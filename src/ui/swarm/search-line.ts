/** Words that are typed to find agents: the tree shows at once whom they fit. */
import { draftOf } from '../../terminal/input/draft.js';
import { viewDraft } from '../../terminal/input/draft-view.js';
import { type Key, LineEditor } from '../../terminal/input/line-editor.js';
import type { DeskView } from './command-prompt.js';
import type { SwarmTable } from './table/swarm-table.js';

const LONGEST = 200;

type Board = Pick<SwarmTable, 'wish' | 'search' | 'selectFound'>;

export class SearchLine {
  private readonly board: Board;
  private editor: LineEditor | undefined;
  /** What was looked for before. */
  private former = '';

  constructor(board: Board) {
    this.board = board;
  }

  get isTyping(): boolean {
    return this.editor !== undefined;
  }

  begin(): void {
    this.former = this.board.wish.text;
    this.editor = new LineEditor();
    this.editor.reset(draftOf(this.former));
  }

  press(key: Key): void {
    const stroke = this.editor?.press(key);
    if (stroke?.kind === 'submit') {
      this.end(stroke.text);
      this.board.selectFound();
    } else if (stroke?.kind === 'escape' || stroke?.kind === 'interrupt') this.end(this.former);
    else this.look();
  }

  paste(text: string): void {
    this.editor?.paste(text);
    this.look();
  }

  view(width: number): DeskView | undefined {
    if (this.editor === undefined) return undefined;
    const { rows, row, column } = viewDraft('find: ', this.editor.draft, width);
    const hints = [
      { key: 'Enter', says: 'keep' },
      { key: 'Esc', says: 'as before' },
    ];
    return { lines: rows, cursor: { row, column }, hints };
  }

  private end(text: string): void {
    this.editor = undefined;
    this.board.search(words(text));
  }

  private look(): void {
    if (this.editor !== undefined) this.board.search(words(this.editor.draft.text));
  }
}

const words = (text: string): string => text.slice(0, LONGEST).replaceAll(/\s+/g, ' ');
