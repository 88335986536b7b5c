/**
 * Question inbox: open questions and the keys that answer them.
 *
 * A question never takes the keyboard by itself: the person focuses the inbox, chooses an answer and confirms it. Keys
 * that were meant for other content confirm no answer: keys within the grace time, a key that is held down, and keys
 * after the focused question has gone.
 */
import type {
  AnswerScope,
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  PersonQuestion,
} from '../../protocol/permission/permission-question.js';
import { denialText } from '../../terminal/format/format-question.js';
import { type Key, LineEditor } from '../../terminal/input/line-editor.js';
import { GRACE_MS } from '../../terminal/terminal.js';
import { Observable } from '../screen/observable.js';

interface InboxQuestion {
  readonly id: string;
  /** Display name of the asking agent. */
  readonly asker: string;
  /** Ancestors of the asking agent, and its task. Default: the lead asks. */
  readonly purpose?: string;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
}

export interface PermissionInboxEntry extends InboxQuestion {
  readonly kind: 'permission';
  readonly question: PermissionQuestion;
  readonly answer: (answer: PermissionAnswer) => void;
}

export interface ChoiceInboxEntry extends InboxQuestion {
  readonly kind: 'choice';
  readonly question: PersonQuestion;
  readonly answer: (answer: PersonAnswer) => void;
}

export type InboxEntry = PermissionInboxEntry | ChoiceInboxEntry;

type PermissionChoice = AnswerScope | 'deny';

/** Returns the possible choices. `words`: an answer in the person's own words. */
export const choicesOf = (entry: InboxEntry): readonly string[] => {
  if (entry.kind === 'choice')
    return [...entry.question.options.map(({ label }) => label), 'words'];
  const choices: readonly PermissionChoice[] = ['once', 'session', 'project', 'deny'];
  return entry.question.grant === undefined ? ['once', 'deny'] : choices;
};

/** Permission choices by letter. `n` is an alias for people who expect yes or no. */
const CHOICE_BY_LETTER: Readonly<Record<string, PermissionChoice>> = {
  o: 'once',
  s: 'session',
  p: 'project',
  d: 'deny',
  n: 'deny',
};

interface QuestionInboxOptions {
  /** Opens the question in full length. */
  readonly showFull: (entry: InboxEntry) => void;
  /** Clock in milliseconds. Default: `performance.now()`. */
  readonly now?: () => number;
}

export class QuestionInbox extends Observable {
  private readonly options: QuestionInboxOptions;
  private readonly now: () => number;
  private readonly list: InboxEntry[] = [];
  private shownId: string | undefined;
  /** Time at which the inbox got the keys; undefined while it does not have them. */
  private focusedAt: number | undefined;
  /** Start of the grace time, in which no answer can be confirmed. */
  private graceStartedAt = Number.NEGATIVE_INFINITY;
  /** True after the focused question was removed unanswered. All keys are ignored until the person acknowledges it. */
  isQuestionGone = false;
  /** Id of the question that is being answered here. */
  private answering: string | undefined;
  /** Index of the chosen answer; undefined after a letter without meaning. */
  choice: number | undefined = 0;
  /** True once a letter chose deny. Further letters are ignored then, so that `deny`, `no` and `never` all deny. */
  private isDenying = false;
  private letterAt = Number.NEGATIVE_INFINITY;
  /** Indexes of the checked options of a question with several answers. */
  readonly checked = new Set<number>();
  /** Editor for the text of the answer; undefined while no text is typed. */
  answerEditor: LineEditor | undefined;

  constructor(options: QuestionInboxOptions) {
    super();
    this.options = options;
    this.now = options.now ?? (() => performance.now());
  }

  /** Oldest first. */
  get entries(): readonly InboxEntry[] {
    return this.list;
  }

  /** The question on the screen. */
  get shown(): InboxEntry | undefined {
    return this.list.find(({ id }) => id === this.shownId) ?? this.list[0];
  }

  get isFocused(): boolean {
    return this.focusedAt !== undefined && (this.list.length > 0 || this.isQuestionGone);
  }

  /** True if a question is on the screen for at least the grace time. */
  get isSeen(): boolean {
    return this.list.length > 0 && this.now() - this.graceStartedAt >= GRACE_MS;
  }

  add(entry: InboxEntry): void {
    this.list.push(entry);
    if (this.list.length === 1) this.show(entry);
    this.notifyNow();
  }

  /** Removes an answered or withdrawn question. */
  remove(id: string): void {
    const at = this.list.findIndex((entry) => entry.id === id);
    if (at === -1) return;
    const wasShown = this.shown?.id === id;
    this.list.splice(at, 1);
    if (wasShown) {
      this.isQuestionGone = this.focusedAt !== undefined && this.answering !== id;
      this.show(this.list[Math.min(at, this.list.length - 1)]);
    }
    if (this.list.length === 0 && !this.isQuestionGone) this.focusedAt = undefined;
    this.notifyNow();
  }

  focus(): void {
    if (this.list.length === 0) return;
    this.focusedAt = this.now();
    this.isDenying = false;
    this.restartGrace();
    this.notifyNow();
  }

  blur(): void {
    this.focusedAt = undefined;
    this.isQuestionGone = false;
    this.answerEditor = undefined;
    this.notifyNow();
  }

  /** Restarts the grace time after other content was on the screen, because the next key may be meant for that. */
  restartGrace(): void {
    this.graceStartedAt = this.now();
  }

  paste(text: string): void {
    this.answerEditor?.paste(text);
    this.notifySoon();
  }

  press(key: Key): void {
    const entry = this.shown;
    if (this.isQuestionGone) this.acknowledgeGone(key);
    else if (entry === undefined) return;
    else if (this.answerEditor === undefined) this.choose(entry, key);
    else this.type(entry, this.answerEditor, key);
    this.notifySoon();
  }

  /** Accepts Tab and Esc only, because the person may still be typing text for the question that has gone. */
  private acknowledgeGone({ name }: Key): void {
    if (name !== 'tab' && name !== 'escape') return;
    this.isQuestionGone = false;
    if (name === 'escape' || this.list.length === 0) this.blur();
    else this.focus();
  }

  private show(entry: InboxEntry | undefined): void {
    this.shownId = entry?.id;
    this.choice = 0;
    this.isDenying = false;
    this.checked.clear();
    this.answerEditor = undefined;
    this.restartGrace();
  }

  private choose(entry: InboxEntry, key: Key): void {
    const { name = '', shift = false } = key;
    const choices = choicesOf(entry);
    if (name === 'escape') this.blur();
    else if (name === 'up') this.moveTo((this.choice ?? choices.length) - 1, choices);
    else if (name === 'down') this.moveTo((this.choice ?? -1) + 1, choices);
    else if (name === 'tab' || name === 'right') this.step(shift ? -1 : 1);
    else if (name === 'left') this.step(-1);
    else if (name === 'space' && entry.kind === 'choice') this.toggleChecked(entry);
    else if (name === 'return') this.confirm(entry, choices);
    else this.chooseByLetter(entry, key, choices);
  }

  private moveTo(index: number, choices: readonly string[]): void {
    this.choice = Math.max(0, Math.min(choices.length - 1, index));
    this.isDenying = false;
  }

  /** Chooses by a single letter. A letter right after another one is part of a word, and chooses no answer. */
  private chooseByLetter(entry: InboxEntry, key: Key, choices: readonly string[]): void {
    const { name = '', ctrl = false, meta = false } = key;
    if (ctrl || meta) return;
    const isAlone = this.now() - this.letterAt >= GRACE_MS;
    this.letterAt = this.now();
    const letter = isAlone ? name.toLowerCase() : '';
    if (letter === 'v') this.options.showFull(entry);
    if (letter === 'v' || this.isDenying) return;
    const index =
      entry.kind === 'choice'
        ? Number(letter) - 1
        : choices.indexOf(CHOICE_BY_LETTER[letter] ?? '');
    this.choice = choices[index] === undefined ? undefined : index;
    this.isDenying = entry.kind === 'permission' && choices[index] === 'deny';
    if (this.choice === undefined) this.restartGrace();
  }

  private step(offset: number): void {
    const at = this.list.findIndex(({ id }) => id === this.shown?.id);
    const next = this.list[(at + offset + this.list.length) % this.list.length];
    if (next?.id !== this.shown?.id) this.show(next);
  }

  private toggleChecked({ question }: ChoiceInboxEntry): void {
    const { choice } = this;
    if (!question.multiple || choice === undefined || choice >= question.options.length) return;
    if (!this.checked.delete(choice)) this.checked.add(choice);
  }

  /** Confirms the choice. Within the grace time it restarts the grace time instead, so a held key never confirms. */
  private confirm(entry: InboxEntry, choices: readonly string[]): void {
    const { choice } = this;
    if (this.now() - this.graceStartedAt < GRACE_MS || choice === undefined) {
      this.restartGrace();
      // Enter may be part of a pasted text, so letters after it choose no answer either.
      this.letterAt = this.now();
      return;
    }
    const chosen = choices[choice] ?? '';
    if (entry.kind === 'choice') {
      if (choice === entry.question.options.length) this.answerEditor = new LineEditor();
      else this.settle(entry.id, () => entry.answer({ chosen: this.labels(entry, choice) }));
    } else if (chosen === 'deny') this.answerEditor = new LineEditor();
    else {
      const scope = chosen as AnswerScope;
      this.settle(entry.id, () => entry.answer({ behavior: 'allow', scope }));
    }
  }

  private labels({ question: { options } }: ChoiceInboxEntry, choice: number): readonly string[] {
    const indexes = this.checked.size === 0 ? [choice] : [...this.checked].sort((a, b) => a - b);
    return indexes.flatMap((at) => options[at]?.label ?? []);
  }

  private type(entry: InboxEntry, line: LineEditor, key: Key): void {
    const stroke = line.press(key);
    if (stroke.kind === 'escape' || stroke.kind === 'interrupt') {
      this.answerEditor = undefined;
      this.isDenying = false;
    }
    if (stroke.kind !== 'submit') return;
    const text = stroke.text.trim();
    if (entry.kind === 'permission') {
      this.settle(entry.id, () => entry.answer({ behavior: 'deny', reason: denialText(text) }));
    } else if (text !== '') {
      this.settle(entry.id, () => entry.answer({ chosen: [], text }));
    }
  }

  private settle(id: string, answer: () => void): void {
    this.answering = id;
    answer();
    this.remove(id);
    this.answering = undefined;
  }
}
