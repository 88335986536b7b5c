/**
 * Open questions and the keys that answer them. A question never takes the keyboard by itself: the person
 * turns to it, chooses an answer and confirms it. What is typed for something else confirms nothing: not what
 * came a moment before, not a key that is held down, and not what goes on when the question has gone.
 */
import type {
  AnswerScope,
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  PersonQuestion,
} from '../../protocol/permission/permission.js';
import { denialOf } from '../../terminal/format/format-question.js';
import { type Key, LineEditor } from '../../terminal/input/line-editor.js';
import { GRACE_MS } from '../../terminal/terminal.js';
import { Observable } from '../screen/observable.js';

interface Asked {
  readonly id: string;
  /** How people call whoever asks. */
  readonly asker: string;
  /** Whom it works for, and on what. */
  readonly purpose?: string;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
}

export interface PermissionEntry extends Asked {
  readonly kind: 'permission';
  readonly question: PermissionQuestion;
  readonly answer: (answer: PermissionAnswer) => void;
}

export interface ChoiceEntry extends Asked {
  readonly kind: 'choice';
  readonly question: PersonQuestion;
  readonly answer: (answer: PersonAnswer) => void;
}

export type InboxEntry = PermissionEntry | ChoiceEntry;

export type PermissionChoice = AnswerScope | 'deny';

/** What can be chosen of a question; `words` are the person's own. */
export const choicesOf = (entry: InboxEntry): readonly string[] => {
  if (entry.kind === 'choice')
    return [...entry.question.options.map(({ label }) => label), 'words'];
  const choices: readonly PermissionChoice[] = ['once', 'session', 'project', 'deny'];
  return entry.question.grant === undefined ? ['once', 'deny'] : choices;
};

/** The letters of permissions, with the one that most people would try for a no. */
const MEANT: Readonly<Record<string, PermissionChoice>> = {
  o: 'once',
  s: 'session',
  p: 'project',
  d: 'deny',
  n: 'deny',
};

export interface InboxOptions {
  /** All of what a question is about, on a screen of its own. */
  readonly showWhole: (entry: InboxEntry) => void;
  readonly now?: () => number;
}

export class Inbox extends Observable {
  private readonly options: InboxOptions;
  private readonly now: () => number;
  private readonly list: InboxEntry[] = [];
  private shownId: string | undefined;
  /** Undefined while the keys are for something else. */
  private turnedAt: number | undefined;
  /** Nothing is confirmed for a moment after this. */
  private armedAt = Number.NEGATIVE_INFINITY;
  /** The one that somebody had turned to has gone by itself: until they say so, no key means anything. */
  isLost = false;
  /** The one that is being answered here. */
  private answering: string | undefined;
  /** The place of what is chosen; undefined after letters that mean nothing here. */
  choice: number | undefined = 0;
  /** Whoever has begun to say no means it, whatever letters follow: `deny`, `no`, `never`. */
  private isNo = false;
  private letterAt = Number.NEGATIVE_INFINITY;
  /** Of several answers, those that are ticked. */
  readonly ticked = new Set<number>();
  /** Words that go with the answer; undefined while none are typed. */
  line: LineEditor | undefined;

  constructor(options: InboxOptions) {
    super();
    this.options = options;
    this.now = options.now ?? (() => performance.now());
  }

  /** Oldest first. */
  get entries(): readonly InboxEntry[] {
    return this.list;
  }

  /** The one that is shown, and whose answer is chosen. */
  get shown(): InboxEntry | undefined {
    return this.list.find(({ id }) => id === this.shownId) ?? this.list[0];
  }

  get isTurnedTo(): boolean {
    return this.turnedAt !== undefined && (this.list.length > 0 || this.isLost);
  }

  /** Somebody can have seen it. */
  get isSeen(): boolean {
    return this.list.length > 0 && this.now() - this.armedAt >= GRACE_MS;
  }

  add(entry: InboxEntry): void {
    this.list.push(entry);
    if (this.list.length === 1) this.show(entry);
    this.changedNow();
  }

  /** Answered, or not asked any more. */
  remove(id: string): void {
    const at = this.list.findIndex((entry) => entry.id === id);
    if (at === -1) return;
    const wasShown = this.shown?.id === id;
    this.list.splice(at, 1);
    if (wasShown) {
      this.isLost = this.turnedAt !== undefined && this.answering !== id;
      this.show(this.list[Math.min(at, this.list.length - 1)]);
    }
    if (this.list.length === 0 && !this.isLost) this.turnedAt = undefined;
    this.changedNow();
  }

  turnTo(): void {
    if (this.list.length === 0) return;
    this.turnedAt = this.now();
    this.isNo = false;
    this.rearm();
    this.changedNow();
  }

  turnAway(): void {
    this.turnedAt = undefined;
    this.isLost = false;
    this.line = undefined;
    this.changedNow();
  }

  /** Something else was on the screen: what is pressed next may be meant for that. */
  rearm(): void {
    this.armedAt = this.now();
  }

  paste(text: string): void {
    this.line?.paste(text);
    this.changedSoon();
  }

  press(key: Key): void {
    const entry = this.shown;
    if (this.isLost) this.goOn(key);
    else if (entry === undefined) return;
    else if (this.line === undefined) this.choose(entry, key);
    else this.type(entry, this.line, key);
    this.changedSoon();
  }

  /** Only keys that are no text: somebody may still be typing for the one that has gone. */
  private goOn({ name }: Key): void {
    if (name !== 'tab' && name !== 'escape') return;
    this.isLost = false;
    if (name === 'escape' || this.list.length === 0) this.turnAway();
    else this.turnTo();
  }

  private show(entry: InboxEntry | undefined): void {
    this.shownId = entry?.id;
    this.choice = 0;
    this.isNo = false;
    this.ticked.clear();
    this.line = undefined;
    this.rearm();
  }

  private choose(entry: InboxEntry, key: Key): void {
    const { name = '', shift = false } = key;
    const choices = choicesOf(entry);
    if (name === 'escape') this.turnAway();
    else if (name === 'up') this.moveTo((this.choice ?? choices.length) - 1, choices);
    else if (name === 'down') this.moveTo((this.choice ?? -1) + 1, choices);
    else if (name === 'tab' || name === 'right') this.step(shift ? -1 : 1);
    else if (name === 'left') this.step(-1);
    else if (name === 'space' && entry.kind === 'choice') this.tick(entry);
    else if (name === 'return') this.confirm(entry, choices);
    else this.chooseByLetter(entry, key, choices);
  }

  private moveTo(place: number, choices: readonly string[]): void {
    this.choice = Math.max(0, Math.min(choices.length - 1, place));
    this.isNo = false;
  }

  /** Only a letter by itself chooses: whoever types a word may mean anything by it, and never a yes. */
  private chooseByLetter(entry: InboxEntry, key: Key, choices: readonly string[]): void {
    const { name = '', ctrl = false, meta = false } = key;
    if (ctrl || meta) return;
    const isAlone = this.now() - this.letterAt >= GRACE_MS;
    this.letterAt = this.now();
    const letter = isAlone ? name.toLowerCase() : '';
    if (letter === 'v') this.options.showWhole(entry);
    if (letter === 'v' || this.isNo) return;
    const meant =
      entry.kind === 'choice' ? Number(letter) - 1 : choices.indexOf(MEANT[letter] ?? '');
    this.choice = choices[meant] === undefined ? undefined : meant;
    this.isNo = entry.kind === 'permission' && choices[meant] === 'deny';
    if (this.choice === undefined) this.rearm();
  }

  private step(by: number): void {
    const at = this.list.findIndex(({ id }) => id === this.shown?.id);
    const next = this.list[(at + by + this.list.length) % this.list.length];
    if (next?.id !== this.shown?.id) this.show(next);
  }

  private tick({ question }: ChoiceEntry): void {
    const { choice } = this;
    if (!question.multiple || choice === undefined || choice >= question.options.length) return;
    if (!this.ticked.delete(choice)) this.ticked.add(choice);
  }

  /** Nothing is confirmed by a key that came too soon to be meant; one that is held down is never meant. */
  private confirm(entry: InboxEntry, choices: readonly string[]): void {
    const { choice } = this;
    if (this.now() - this.armedAt < GRACE_MS || choice === undefined) {
      this.rearm();
      // Words may have several lines.
      this.letterAt = this.now();
      return;
    }
    const chosen = choices[choice] ?? '';
    if (entry.kind === 'choice') {
      if (choice === entry.question.options.length) this.line = new LineEditor();
      else this.settle(entry.id, () => entry.answer({ chosen: this.labels(entry, choice) }));
    } else if (chosen === 'deny') this.line = new LineEditor();
    else {
      const scope = chosen as AnswerScope;
      this.settle(entry.id, () => entry.answer({ behavior: 'allow', scope }));
    }
  }

  private labels({ question: { options } }: ChoiceEntry, choice: number): readonly string[] {
    const places = this.ticked.size === 0 ? [choice] : [...this.ticked].sort((a, b) => a - b);
    return places.flatMap((at) => options[at]?.label ?? []);
  }

  private type(entry: InboxEntry, line: LineEditor, key: Key): void {
    const stroke = line.press(key);
    if (stroke.kind === 'escape' || stroke.kind === 'interrupt') {
      this.line = undefined;
      this.isNo = false;
    }
    if (stroke.kind !== 'submit') return;
    const words = stroke.text.trim();
    if (entry.kind === 'permission') {
      this.settle(entry.id, () => entry.answer({ behavior: 'deny', reason: denialOf(words) }));
    } else if (words !== '') {
      this.settle(entry.id, () => entry.answer({ chosen: [], text: words }));
    }
  }

  private settle(id: string, answer: () => void): void {
    this.answering = id;
    answer();
    this.remove(id);
    this.answering = undefined;
  }
}
