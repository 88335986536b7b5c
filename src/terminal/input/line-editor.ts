/** What keys do to the line being typed: editing, history, searching. Knows no terminal. */
import { type Draft, draftOf, EDITS, EMPTY, insert, rowAbove, rowBelow } from './draft.js';

/** A key press as node:readline tells it. */
export interface Key {
  readonly sequence?: string | undefined;
  readonly name?: string | undefined;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly shift?: boolean;
}

/** What the keys came to; `none` is a key that means nothing here. */
export type Stroke =
  | { readonly kind: 'changed' | 'none' | 'full' | 'redraw' }
  | { readonly kind: 'escape' | 'interrupt' | 'end' | 'suspend' }
  | { readonly kind: 'submit'; readonly text: string };

/** More than any model reads in one prompt. */
export const LONGEST_DRAFT = 1_000_000;

interface Search {
  readonly query: string;
  /** The entry that is shown; -1 when none fits. */
  readonly found: number;
}

export class LineEditor {
  draft: Draft = EMPTY;
  private readonly history: readonly string[];
  /** The entry that is shown, and what was typed before that. */
  private place: number | undefined;
  private unsent: Draft = EMPTY;
  private search: Search | undefined;

  /** `history` is oldest first, and may grow meanwhile. */
  constructor(history: readonly string[] = []) {
    this.history = history;
  }

  /** What stands before the line. */
  label(usual: string): string {
    if (this.search === undefined) return usual;
    const { query, found } = this.search;
    return `search ${JSON.stringify(query)}${found === -1 && query !== '' ? ' (not found)' : ''}: `;
  }

  get isInUse(): boolean {
    return this.draft.text !== '' || this.search !== undefined;
  }

  /** The line is one of the history, word for word: somebody looks for another one, and types nothing. */
  get isRecalled(): boolean {
    if (this.search !== undefined) return true;
    return this.place !== undefined && this.draft.text === this.history[this.place];
  }

  reset(draft: Draft = EMPTY): void {
    this.draft = draft;
    this.place = undefined;
    this.search = undefined;
  }

  /** Pasted text is taken as it is, in one piece. */
  paste(text: string): Stroke {
    this.search = undefined;
    const clean = text.replaceAll(/\r\n?/g, '\n').toWellFormed();
    const room = LONGEST_DRAFT - this.draft.text.length;
    this.draft = insert(this.draft, clean.slice(0, Math.max(0, room)).toWellFormed());
    return { kind: clean.length > room ? 'full' : 'changed' };
  }

  press(key: Key): Stroke {
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
    const edit = EDITS[name];
    if (edit !== undefined) {
      this.draft = edit(this.draft);
      return { kind: 'changed' };
    }
    return isText(key) ? this.type(key.sequence) : { kind: 'none' };
  }

  private type(text: string): Stroke {
    if (this.draft.text.length >= LONGEST_DRAFT) return { kind: 'full' };
    this.draft = insert(this.draft, text);
    return { kind: 'changed' };
  }

  /** A backslash at the very end asks for another line. */
  private submit(): Stroke {
    const { text, at } = this.draft;
    if (at === text.length && text.endsWith('\\')) {
      this.draft = draftOf(`${text.slice(0, -1)}\n`);
      return { kind: 'changed' };
    }
    this.reset();
    return { kind: 'submit', text };
  }

  private older(): Stroke {
    const above = rowAbove(this.draft);
    if (above !== undefined) this.draft = above;
    else this.show((this.place ?? this.history.length) - 1);
    return { kind: 'changed' };
  }

  private newer(): Stroke {
    const below = rowBelow(this.draft);
    if (below !== undefined) this.draft = below;
    else if (this.place !== undefined) this.show(this.place + 1);
    return { kind: 'changed' };
  }

  private show(place: number): void {
    const entry = this.history[place];
    if (place < 0) return;
    if (this.place === undefined) this.unsent = this.draft;
    this.place = entry === undefined ? undefined : place;
    this.draft = entry === undefined ? this.unsent : draftOf(entry);
  }

  /** Undefined when the key ends the search and means what it always means. */
  private pressInSearch(name: string, key: Key, search: Search): Stroke | undefined {
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

  /** Looks from `newest` towards older entries. */
  private find(query: string, newest: number, former?: Search): Stroke {
    const found =
      query === '' || newest < 0
        ? -1
        : this.history.slice(0, newest + 1).findLastIndex((entry) => entry.includes(query));
    if (found === -1 && former !== undefined) return { kind: 'none' };
    this.search = { query, found };
    this.draft = found === -1 ? this.unsent : draftOf(this.history[found] ?? '');
    return { kind: 'changed' };
  }
}

const nameOf = ({ name = '', ctrl = false, meta = false }: Key): string => {
  // Terminals send Esc twice, or Alt and Esc, for two presses of the key.
  if (name === 'escape') return name;
  return `${ctrl ? 'C-' : ''}${meta ? 'M-' : ''}${name}`;
};

const isText = (key: Key): key is Key & { readonly sequence: string } => {
  const { sequence = '', ctrl = false, meta = false } = key;
  if (ctrl || meta || sequence === '') return false;
  return sequence === '\t' || !/[\p{Cc}]/u.test(sequence);
};
