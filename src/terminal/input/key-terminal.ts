/** A capable terminal: keys in, an editable line, and questions that type-ahead cannot answer. */

import {
  GRACE_MS,
  paintFor,
  type Reply,
  type Terminal,
  type TerminalHandlers,
  wantsColour,
  withdrawable,
} from '../terminal.js';
import type { TerminalHost } from '../terminal-host.js';
import { echoOf, exactText } from '../text/sanitize.js';
import { EMPTY } from './draft.js';
import { viewDraft } from './draft-view.js';
import { listenToKeys } from './keyboard.js';
import { type Key, LineEditor, LONGEST_DRAFT, type Stroke } from './line-editor.js';
import { type LineDisplay, LineScreen } from './line-screen.js';

const PROMPT = '> ';

interface Question {
  readonly label: string;
  readonly editor: LineEditor;
  readonly settle: (reply: Reply) => void;
  /** Opens when the keyboard has been quiet for a moment. */
  isOpen: boolean;
}

/** A screen around the line that is typed. */
export interface KeyScreen {
  readonly display: LineDisplay;
  /** Keys and pastes that are not for the line; true when it has taken one. */
  press(key: Key, editor: LineEditor): boolean;
  paste(text: string): boolean;
  /** From now on it has the terminal, until it gives it back: to the shell for a while, or for good. */
  take(): void;
  giveBack(): void;
  /** A question stands where the line is: nothing may hide it. */
  uncover(): void;
}

export class KeyTerminal implements Terminal {
  readonly isCapable = true;
  readonly isPerson = true;
  readonly paint;
  private readonly machine: TerminalHost;
  private readonly editor: LineEditor;
  private readonly display: LineDisplay;
  /** Undefined where there are only lines. */
  private readonly screen: KeyScreen | undefined;
  private handlers: TerminalHandlers | undefined;
  private stopListening = () => {};
  private isBusy = true;
  private question: Question | undefined;
  private grace: NodeJS.Timeout | undefined;

  constructor(machine: TerminalHost, history: readonly string[], screen?: KeyScreen) {
    this.machine = machine;
    this.editor = new LineEditor(history);
    this.screen = screen;
    this.display =
      screen?.display ??
      new LineScreen(
        (text) => text !== '' && machine.out(text),
        () => this.columns,
      );
    this.paint = paintFor(wantsColour(machine));
  }

  open(handlers: TerminalHandlers): void {
    this.handlers = handlers;
    const close = listenToKeys(this.machine, {
      key: (key) => this.press(key),
      paste: (text) => this.paste(text),
      end: () => handlers.end(),
    });
    const forget = this.machine.onResize(() => this.draw());
    this.screen?.take();
    this.draw();
    this.stopListening = () => {
      close();
      forget();
    };
  }

  close(): void {
    clearTimeout(this.grace);
    this.question?.settle({ kind: 'gone' });
    this.editor.reset();
    this.setBusy(true);
    this.freshLine();
    this.stopListening();
  }

  write(text: string): void {
    this.display.write(text);
  }

  freshLine(): void {
    this.display.freshLine();
  }

  setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.draw();
  }

  ask(label: string, signal: AbortSignal, isExpected = false): Promise<Reply> {
    return withdrawable(
      signal,
      (settle) => {
        this.screen?.uncover();
        this.question = { label, settle, isOpen: isExpected, editor: new LineEditor() };
        if (isExpected) this.draw();
        else this.waitForQuiet();
      },
      () => {
        clearTimeout(this.grace);
        this.question = undefined;
        this.draw();
      },
    );
  }

  /** What is typed on from before must not answer a question that nobody has read. */
  private waitForQuiet(): void {
    clearTimeout(this.grace);
    this.grace = setTimeout(() => {
      if (this.question !== undefined) this.question.isOpen = true;
      this.draw();
    }, GRACE_MS);
  }

  private paste(text: string): void {
    const { question } = this;
    if (question === undefined && this.screen?.paste(text) === true) return;
    if (question !== undefined && !question.isOpen) {
      this.waitForQuiet();
      if (this.editor.draft.text === '') return;
    }
    this.follow((question?.isOpen ? question.editor : this.editor).paste(text));
  }

  private press(key: Key): void {
    const { question } = this;
    if (question === undefined && this.screen?.press(key, this.editor) === true) this.draw();
    else if (question === undefined) this.follow(this.editor.press(key));
    else if (question.isOpen) this.answer(question, question.editor.press(key));
    else this.typeOn(question, key);
  }

  /** A line that was begun before the question goes on, and is not sent. Esc is meant at any time. */
  private typeOn(question: Question, key: Key): void {
    const { kind } = new LineEditor().press(key);
    if (kind === 'escape' || kind === 'interrupt') {
      question.settle({ kind: 'cancelled' });
      return;
    }
    this.waitForQuiet();
    if (kind !== 'submit' && this.editor.draft.text !== '') this.follow(this.editor.press(key));
  }

  private answer({ label, settle }: Question, stroke: Stroke): void {
    switch (stroke.kind) {
      case 'submit':
        this.display.replace(`${label}${exactText(stroke.text)}\n`);
        settle({ kind: 'line', text: stroke.text });
        break;
      case 'escape':
      case 'interrupt':
        this.display.replace(`${label}\n`);
        settle({ kind: 'cancelled' });
        break;
      case 'suspend':
        this.suspend();
        break;
      default:
        this.draw();
    }
  }

  private follow(stroke: Stroke): void {
    switch (stroke.kind) {
      case 'submit':
        this.submit(stroke.text);
        break;
      case 'escape':
        this.handlers?.escape();
        break;
      case 'interrupt':
        this.interrupt();
        break;
      case 'end':
        this.handlers?.end();
        break;
      case 'suspend':
        this.suspend();
        break;
      case 'redraw':
        this.display.clear();
        this.draw();
        break;
      case 'full':
        this.freshLine();
        this.write(`(A prompt holds ${LONGEST_DRAFT} characters; the rest was left out.)\n`);
        this.draw();
        break;
      case 'changed':
        this.draw();
        break;
      case 'none':
        break;
    }
  }

  /** Ctrl-C on a line that was begun: away with it; during a run it means the run as well. */
  private interrupt(): void {
    const hadDraft = this.editor.draft.text !== '';
    this.editor.reset(EMPTY);
    this.draw();
    if (this.isBusy || !hadDraft) this.handlers?.interrupt();
  }

  private submit(text: string): void {
    if (text.trim() !== '') {
      this.display.replace(`${PROMPT}${echoOf(text).join(`\n${' '.repeat(PROMPT.length)}`)}\n`);
      this.handlers?.line(text);
    }
    this.draw();
  }

  /** Ctrl-Z: the shell has the terminal as it left it, until it hands it back. */
  private suspend(): void {
    const { handlers } = this;
    if (this.screen === undefined) this.display.replace('');
    this.screen?.giveBack();
    this.stopListening();
    this.machine.suspend();
    if (handlers !== undefined) this.open(handlers);
    this.draw();
  }

  get columns(): number {
    return this.machine.stdout.columns || 80;
  }

  /** Shows the line if there is anything to type or to see. */
  private draw(): void {
    const { question } = this;
    const asks = question?.isOpen === true ? question : undefined;
    const { editor = this.editor, label = PROMPT } = asks ?? {};
    const isPrompt = !this.isBusy && question === undefined;
    const isNeeded = asks !== undefined || isPrompt || editor.isInUse || this.screen !== undefined;
    this.display.show(
      isNeeded ? viewDraft(editor.label(label), editor.draft, this.columns) : undefined,
    );
  }
}
