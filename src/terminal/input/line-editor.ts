/** Line editor: applies keys to a draft, with history and search. Independent of any terminal. */
import {
  cursorDown,
  cursorUp,
  type Draft,
  draftOf,
  EMPTY_DRAFT,
  insertText,
  KEY_EDITS,
} from './draft.js';

/** Key press in the form of node:readline. */
export interface Key {
  readonly sequence?: string | undefined;
  readonly name?: string | undefined;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly shift?: boolean;
}

/** Result of a key press. `none`: the key has no meaning here. `full`: the draft is at its maximum length. */
export type KeyResult =
  | { readonly kind: 'changed' | 'none' | 'full' | 'redraw' }
  | { readonly kind: 'escape' | 'interrupt' | 'end' | 'suspend' }
  | { readonly kind: 'submit'; readonly text: string };

/** Maximum UTF-16 units of a draft: more than the context window of any model. */
export const MAX_DRAFT_LENGTH = 1_000_000;

interface Search {
  readonly query: string;
  /** Index of the history entry that is shown; -1 if no entry matches. */
  readonly found: number;
}

export class LineEditor {
  draft: Draft = EMPTY_DRAFT;
  private readonly history: readonly string[];
  /** Index of the history entry that is shown; undefined if the draft is not from the history. */
  private historyIndex: number | undefined;
  /** Draft before the person opened the history or the search. */
  private unsent: Draft = EMPTY_DRAFT;
  private search: Search | undefined;

  /** `history`: earlier prompts, oldest first. It may grow later. */
  constructor(history: readonly string[] = []) {
    this.history = history;
  }

  /** Returns the label before the line: `usual`, or the search query. */
  label(usual: string): string {
    if (this.search === undefined) return usual;
    const { query, found } = this.search;
    return `search ${JSON.stringify(query)}${found === -1 && query !== '' ? ' (not found)' : ''}: `;
  }

  get isInUse(): boolean {
    return this.draft.text !== '' || this.search !== undefined;
  }

  /** True if the draft is an unchanged history entry: the person browses and does not type. */
  get isRecalled(): boolean {
    if (this.search !== undefined) return true;
    return this.historyIndex !== undefined && this.draft.text === this.history[this.historyIndex];
  }

  reset(draft: Draft = EMPTY_DRAFT): void {
    this.draft = draft;
    this.historyIndex = undefined;
    this.search = undefined;
  }

  /** Inserts pasted text without interpreting it as keys. */
  paste(text: string): KeyResult {
    this.search = undefined;
    const clean = text.replaceAll(/\r\n?/g, '\n').toWellFormed();
    const room = MAX_DRAFT_LENGTH - this.draft.text.length;
    this.draft = insertText(this.draft, clean.slice(0, Math.max(0, room)).toWellFormed());
    return { kind: clean.length > room ? 'full' : 'changed' };
  }

  press(key: Key): KeyResult {
    const name = nameOf(key);
    if (this.search !== undefined) {
      const stroke = this.pressInSearch(name, key, this.search);
      if (stroke !== undefined) return stroke;
    }
    switch (name) {
      case 'return':
        return this.submit();
      case 'enter':
      case 'M-return':
      case 'M-enter':
      case 'C-j':
        return this.type('\n');
      case 'escape':
        return { kind: 'escape' };
      case 'C-c':
        return { kind: 'interrupt' };
      case 'C-z':
        return { kind: 'suspend' };
      case 'C-l':
        return { kind: 'redraw' };
      case 'C-r':
        this.search = { query: '', found: -1 };
        this.unsent = this.draft;
        return { kind: 'changed' };
      case 'C-d':
        if (this.draft.text === '') return { kind: 'end' };
        break;
      case 'up':
      case 'C-p':
        return this.older();
      case 'down':
      case 'C-n':
        return this.newer();
    }
    const edit = KEY_EDITS[name];
    if (edit !== undefined) {
      this.draft = edit(this.draft);
      return { kind: 'changed' };
    }
    return isText(key) ? this.type(key.sequence) : { kind: 'none' };
  }

  private type(text: string): KeyResult {
    if (this.draft.text.length >= MAX_DRAFT_LENGTH) return { kind: 'full' };
    this.draft = insertText(this.draft, text);
    return { kind: 'changed' };
  }

  /** Submits the draft. A backslash at its end adds a line instead. */
  private submit(): KeyResult {
    const { text, at } = this.draft;
    if (at === text.length && text.endsWith('\\')) {
      this.draft = draftOf(`${text.slice(0, -1)}\n`);
      return { kind: 'changed' };
    }
    this.reset();
    return { kind: 'submit', text };
  }

  private older(): KeyResult {
    const above = cursorUp(this.draft);
    if (above !== undefined) this.draft = above;
    else this.show((this.historyIndex ?? this.history.length) - 1);
    return { kind: 'changed' };
  }

  private newer(): KeyResult {
    const below = cursorDown(this.draft);
    if (below !== undefined) this.draft = below;
    else if (this.historyIndex !== undefined) this.show(this.historyIndex + 1);
    return { kind: 'changed' };
  }

  private show(index: number): void {
    const entry = this.history[index];
    if (index < 0) return;
    if (this.historyIndex === undefined) this.unsent = this.draft;
    this.historyIndex = entry === undefined ? undefined : index;
    this.draft = entry === undefined ? this.unsent : draftOf(entry);
  }

  /** Returns undefined if the key ends the search and keeps its usual meaning. */
  private pressInSearch(name: string, key: Key, search: Search): KeyResult | undefined {
    if (name === 'C-r') return this.find(search.query, search.found - 1, search);
    if (name === 'backspace') return this.find(search.query.slice(0, -1), this.history.length - 1);
    if (name === 'escape' || name === 'C-g' || name === 'C-c') {
      this.reset(this.unsent);
      return { kind: 'changed' };
    }
    if (isText(key)) return this.find(search.query + key.sequence, this.history.length - 1);
    this.search = undefined;
    return undefined;
  }

  /** Searches from `newest` towards older entries. */
  private find(query: string, newest: number, previous?: Search): KeyResult {
    const found =
      query === '' || newest < 0
        ? -1
        : this.history.slice(0, newest + 1).findLastIndex((entry) => entry.includes(query));
    if (found === -1 && previous !== undefined) return { kind: 'none' };
    this.search = { query, found };
    this.draft = found === -1 ? this.unsent : draftOf(this.history[found] ?? '');
    return { kind: 'changed' };
  }
}

const nameOf = ({ name = '', ctrl = false, meta = false }: Key): string => {
  // For two presses of Esc, terminals send Esc twice, or Alt and Esc.
  if (name === 'escape') return name;
  return `${ctrl ? 'C-' : ''}${meta ? 'M-' : ''}${name}`;
};

const isText = (key: Key): key is Key & { readonly sequence: string } => {
  const { sequence = '', ctrl = false, meta = false } = key;
  if (ctrl || meta || sequence === '') return false;
  return sequence === '\t' || !/[\p{Cc}]/u.test(sequence);
};
