/** Search line: filters the tree by the text while it is typed. */
import { draftOf } from '../../terminal/input/draft.js';
import { viewDraft } from '../../terminal/input/draft-view.js';
import { type Key, LineEditor } from '../../terminal/input/line-editor.js';
import type { PromptView } from './command-prompt.js';
import type { SwarmTable } from './table/swarm-table.js';

const MAX_SEARCH_LENGTH = 200;

type SearchedTable = Pick<SwarmTable, 'sortAndFilter' | 'search' | 'selectFound'>;

export class SearchLine {
  private readonly table: SearchedTable;
  private editor: LineEditor | undefined;
  /** Search text before `begin`, restored by Esc. */
  private previous = '';

  constructor(table: SearchedTable) {
    this.table = table;
  }

  get isTyping(): boolean {
    return this.editor !== undefined;
  }

  begin(): void {
    this.previous = this.table.sortAndFilter.text;
    this.editor = new LineEditor();
    this.editor.reset(draftOf(this.previous));
  }

  press(key: Key): void {
    const stroke = this.editor?.press(key);
    if (stroke?.kind === 'submit') {
      this.end(stroke.text);
      this.table.selectFound();
    } else if (stroke?.kind === 'escape' || stroke?.kind === 'interrupt') this.end(this.previous);
    else this.search();
  }

  paste(text: string): void {
    this.editor?.paste(text);
    this.search();
  }

  view(width: number): PromptView | undefined {
    if (this.editor === undefined) return undefined;
    const { rows, row, column } = viewDraft('find: ', this.editor.draft, width);
    const hints = [
      { key: 'Enter', text: 'keep' },
      { key: 'Esc', text: 'cancel' },
    ];
    return { lines: rows, cursor: { row, column }, hints };
  }

  private end(text: string): void {
    this.editor = undefined;
    this.table.search(normalize(text));
  }

  private search(): void {
    if (this.editor !== undefined) this.table.search(normalize(this.editor.draft.text));
  }
}

const normalize = (text: string): string =>
  text.slice(0, MAX_SEARCH_LENGTH).replaceAll(/\s+/g, ' ');
