/** A capable terminal: an editable line at the bottom, and everything that is said above it. */
import { EMPTY } from './draft.js';
import { viewDraft } from './draft-view.js';
import { exactText, firstLines } from './harmless-text.js';
import { listenToKeys } from './keyboard.js';
import { type Key, LineEditor, LONGEST_DRAFT, type Stroke } from './line-editor.js';
import type { Machine } from './machine.js';
import {
  GRACE_MS,
  paintFor,
  type Reply,
  type Terminal,
  type TerminalHandlers,
  wantsColour,
} from './terminal.js';

const PROMPT = '> ';
const CLEAR_BELOW = '\r\u001b[J';
const CLEAR_ALL = '\u001b[H\u001b[2J';
/** Lines of a sent prompt that stay to be seen. */
const ECHOED_LINES = 12;

interface Question {
  readonly label: string;
  readonly editor: LineEditor;
  readonly settle: (reply: Reply) => void;
  /** Opens when the keyboard has been quiet for a moment. */
  isOpen: boolean;
}

export class KeyTerminal implements Terminal {
  readonly isCapable = true;
  readonly isPerson = true;
  readonly paint;
  private readonly machine: Machine;
  private readonly editor: LineEditor;
  private handlers: TerminalHandlers | undefined;
  private stop = () => {};
  private isBusy = true;
  private question: Question | undefined;
  private grace: NodeJS.Timeout | undefined;
  /** The rows above the cursor that the line takes; undefined while it is not shown. */
  private drawn: number | undefined;
  private isLineStart = true;
  /** Text that waits for the end of its line, while a line is being typed below it. */
  private held = '';

  constructor(machine: Machine, history: readonly string[]) {
    this.machine = machine;
    this.editor = new LineEditor(history);
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
    this.stop = () => {
      close();
      forget();
    };
  }

  close(): void {
    clearTimeout(this.grace);
    this.question?.settle({ kind: 'gone' });
    this.editor.reset();
    this.isBusy = true;
    this.freshLine();
    this.draw();
    this.stop();
  }

  write(text: string): void {
    if (text === '') return;
    if (this.drawn === undefined) this.put(text);
    else {
      this.held += text;
      const whole = this.held.lastIndexOf('\n') + 1 || this.wrapPoint();
      if (whole > 0) this.aside(() => this.release(whole));
    }
  }

  freshLine(): void {
    this.aside(() => {
      this.release(this.held.length);
      if (!this.isLineStart) this.put('\n');
    });
  }

  setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.draw();
  }

  ask(label: string, signal: AbortSignal, isExpected = false): Promise<Reply> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve({ kind: 'withdrawn' });
        return;
      }
      const withdraw = () => settle({ kind: 'withdrawn' });
      const settle = (reply: Reply) => {
        signal.removeEventListener('abort', withdraw);
        this.erase();
        clearTimeout(this.grace);
        this.question = undefined;
        resolve(reply);
        this.draw();
      };
      signal.addEventListener('abort', withdraw, { once: true });
      this.question = { label, settle, isOpen: isExpected, editor: new LineEditor() };
      if (isExpected) this.draw();
      else this.waitForQuiet();
    });
  }

  /** What is typed on from before must not answer a question that nobody has read. */
  private waitForQuiet(): void {
    clearTimeout(this.grace);
    this.grace = setTimeout(() => {
      this.erase();
      if (this.question !== undefined) this.question.isOpen = true;
      this.draw();
    }, GRACE_MS);
  }

  private paste(text: string): void {
    const { question } = this;
    if (question !== undefined && !question.isOpen) {
      this.waitForQuiet();
      if (this.editor.draft.text === '') return;
    }
    this.follow((question?.isOpen ? question.editor : this.editor).paste(text));
  }

  private press(key: Key): void {
    const { question } = this;
    if (question === undefined) {
      this.follow(this.editor.press(key));
      return;
    }
    if (question.isOpen) {
      this.answer(question, question.editor.press(key));
      return;
    }
    // Esc and Ctrl-C mean the same at any time.
    const stroke = new LineEditor().press(key).kind;
    if (stroke === 'escape' || stroke === 'interrupt') question.settle({ kind: 'cancelled' });
    else this.typeOn(key);
  }

  /** A line that was begun before the question goes on, and is not sent. */
  private typeOn(key: Key): void {
    this.waitForQuiet();
    if (key.name !== 'return' && this.editor.draft.text !== '') this.follow(this.editor.press(key));
  }

  private answer(question: Question, stroke: Stroke): void {
    switch (stroke.kind) {
      case 'submit':
        this.erase();
        this.put(`${question.label}${exactText(stroke.text)}\n`);
        question.settle({ kind: 'line', text: stroke.text });
        break;
      case 'escape':
      case 'interrupt':
        this.erase();
        this.put(`${question.label}\n`);
        question.settle({ kind: 'cancelled' });
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
        if (this.editor.draft.text === '') this.handlers?.interrupt();
        else this.drop();
        break;
      case 'end':
        this.handlers?.end();
        break;
      case 'redraw':
        this.machine.out(CLEAR_ALL);
        this.drawn = undefined;
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
  private drop(): void {
    this.erase();
    this.editor.reset(EMPTY);
    if (this.isBusy) this.handlers?.interrupt();
    this.draw();
  }

  private submit(text: string): void {
    this.erase();
    this.release(this.held.length);
    if (text.trim() === '') {
      this.draw();
      return;
    }
    if (!this.isLineStart) this.put('\n');
    const echo = firstLines(exactText(text), ECHOED_LINES);
    this.put(`${PROMPT}${echo.join(`\n${' '.repeat(PROMPT.length)}`)}\n`);
    this.handlers?.line(text);
    this.draw();
  }

  /** Does something while the line is out of the way. */
  private aside(work: () => void): void {
    const wasDrawn = this.drawn !== undefined;
    this.erase();
    work();
    if (wasDrawn) this.draw();
  }

  private put(text: string): void {
    this.machine.out(text);
    this.isLineStart = text.endsWith('\n');
  }

  private release(length: number): void {
    if (length === 0) return;
    const text = this.held.slice(0, length);
    this.held = this.held.slice(length);
    this.put(text);
  }

  /** A line that has grown over the width is let go at its last space. */
  private wrapPoint(): number {
    if (this.held.length < this.columns) return 0;
    const space = this.held.lastIndexOf(' ') + 1;
    return space > 0 ? space : this.held.length;
  }

  private get columns(): number {
    return this.machine.stdout.columns || 80;
  }

  private erase(): void {
    if (this.drawn === undefined) return;
    const up = this.drawn > 0 ? `\u001b[${this.drawn}A` : '';
    this.machine.out(`${up}${CLEAR_BELOW}`);
    this.drawn = undefined;
  }

  /** Shows the line if there is anything to show, in one write. */
  private draw(): void {
    const asks = this.question?.isOpen === true ? this.question : undefined;
    const { editor = this.editor, label = PROMPT } = asks ?? {};
    const up = this.drawn !== undefined && this.drawn > 0 ? `\u001b[${this.drawn}A` : '';
    let text = this.drawn === undefined ? '' : `${up}${CLEAR_BELOW}`;
    const waits = this.question !== undefined && asks === undefined;
    const isNeeded = asks !== undefined || editor.draft.text !== '' || !(this.isBusy || waits);
    if (isNeeded) {
      if (!this.isLineStart) {
        text += '\n';
        this.isLineStart = true;
      }
      const view = viewDraft(editor.label(label), editor.draft, this.columns);
      const below = view.rows.length - 1 - view.row;
      text += view.rows.join('\n');
      text += `${below > 0 ? `\u001b[${below}A` : ''}\r${view.column > 0 ? `\u001b[${view.column}C` : ''}`;
      this.drawn = view.row;
    } else {
      this.drawn = undefined;
      text += this.held;
      if (this.held !== '') this.isLineStart = this.held.endsWith('\n');
      this.held = '';
    }
    if (text !== '') this.machine.out(text);
  }
}
